//! Where HTTP tasks may go: which URLs, which addresses, which ports.
//!
//! Customers choose the URL and the executor stands inside somebody's network, so this is a wall. The rule: what is
//! judged is the address that will be connected to, each time one is made, never the name: a name may mean another
//! address a moment later. [`CheckedAddress`] can only be had from [`TargetPolicy::check`].

mod address;
mod origin;
mod policy;
mod port;
mod url;

pub use address::{AddressKind, kind_of};
pub use origin::{ORIGIN_BYTES, origin_of, origin_of_run};
pub use policy::{CheckedAddress, RefusedTarget, TargetPolicy};
pub use port::service_of;
pub use url::{MAX_URL, UrlProblem, parse_url, redirect_url};
