//! `berth webhook`: list, show, set, delete, rotate, resume and test of webhooks; their deliveries, and sending those again.

mod delete;
mod deliveries;
mod list;
mod replay;
mod rotate;
mod set;
mod show;
mod test;

pub use delete::{DeleteArguments, run as delete};
pub use deliveries::{DeliveriesArguments, DeliveryArguments, list as deliveries, one as delivery};
pub use list::run as list;
pub use replay::{ReplayArguments, run as replay};
pub use rotate::{RotateArguments, run as rotate};
pub use set::{SetArguments, run as set};
pub use show::{NameArguments, resume, run as show};
pub use test::{TestArguments, run as test};
