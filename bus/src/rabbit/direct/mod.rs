//! What goes past the broker, in datagrams: wake-ups, and lone messages with hints.
//!
//! Through the broker either took a third of a millisecond, a sixth of what a lone task waited for its start, and it wakes the
//! broker and two of lapin's threads for each. What the broker is still needed for is to find each other: a message through it says where its
//! sender can be answered ([`WakeCaller::introduce`], [`HintCaller::introduce`]); who acts on it answers from the socket at which it listens, and is called there from
//! then on. The rules:
//!
//! - **The broker is left out only while answers come.** Who was not answered for [`HEARD`] sends each wake-up both ways; a message with hints has
//!   a receipt, or goes through the broker after [`RECEIPT`], and who gave none is not called for a while. So no process that hangs and no change of who acts costs more
//!   than that, and a firewall that once a minute; behind all of it stand the poll and the sweep.
//! - **Who does not act does not answer**, so that there is one process at most that is woken instead of all. Hints have as many takers as there are resource managers
//!   with room in the pool, which take turns; a receipt comes when they are placed.
//! - **Nobody else is heard.** Both sides made up a secret, which the other has from the broker or in the answer to that; what comes without is dropped
//!   without a word. Whoever can read the datagrams can read what goes through a broker without TLS, too; where the broker is spoken to with TLS
//!   hints go through it, because they say whose tasks there are and what they need.
//! - A wake-up that came both ways is one: it has a number. Of hints that came both ways the second finds its tasks placed.

mod hint_caller;
mod hint_listener;
mod packet;
mod socket;
mod wake_caller;
mod wake_listener;

pub(super) use hint_caller::HintCaller;
pub(super) use hint_listener::HintListener;
pub(super) use wake_caller::{Told, WakeCaller};
pub(super) use wake_listener::{CallerAt, WakeListener};

use std::time::Duration;

/// A listener answers whoever introduces itself as often, or wakes it, and not each time: an answer wakes a thread, too.
const ANSWER: Duration = Duration::from_millis(50);
/// Who answered within this time is woken without the broker. Some answers may be lost; and no longer than the poll behind every wake-up.
const HEARD: Duration = Duration::from_millis(200);
/// Hints without a receipt go to another taker or through the broker after this time. A taker whose room is taken may hold one until there is
/// more, 250 ms as it is set; and where Postgres is slow, placing is. A second copy would only be more to do.
const RECEIPT: Duration = Duration::from_millis(400);
/// Who gave no receipt is not called for so long, at first and at most: where calls do not come through, offers still may.
const REST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// While all hints of a pool go past the broker, an empty message goes through it as often, so that whoever else takes hints says so.
const INTRODUCE: Duration = Duration::from_secs(1);
