//! Wake-ups that go past the broker, in a datagram from who raises them to the one process that acts on them.
//!
//! Through the broker a wake-up takes a third of a millisecond, which is a sixth of what a lone task waits for its start, and it wakes the
//! broker and two of lapin's threads for each. What the broker is still needed for is to find each other: a wake-up through it says where its
//! sender can be answered ([`Caller::introduce`]); who acts on the topic answers from the socket at which it listens, and is called there from
//! then on. The rules:
//!
//! - **The broker is left out only while answers come.** Who was not answered for [`HEARD`] sends each wake-up both ways: so no
//!   firewall, no process that hangs and no change of who acts costs more than that, and behind all of it stands the poll.
//! - **Who does not act does not answer**, so that there is one process at most that is called instead of all.
//! - **Nobody else is heard.** Both sides made up a secret, which the other has from the broker or in the answer to that; what comes without is dropped
//!   without a word. The most that somebody who could read the datagrams gains is to wake the listener, or to have it wait for its poll.
//! - A wake-up that came both ways is one: it has a number.

mod caller;
mod listener;
mod packet;
mod socket;

pub(super) use caller::{Caller, Told};
pub(super) use listener::{CallerAt, Listener};

use std::time::Duration;

/// A listener answers whoever calls it as often, and not each call: an answer wakes a thread, too.
const ANSWER: Duration = Duration::from_millis(50);
/// Who answered within this time is called without the broker. Some answers may be lost; and no longer than the poll behind every wake-up.
const HEARD: Duration = Duration::from_millis(200);
