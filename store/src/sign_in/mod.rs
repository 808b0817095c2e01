//! Sign-ins: which users are signed in where, and who tries.

mod account;
mod attempt;
mod begin;
mod end;
mod find;
mod list;
mod place;
mod purge;
mod refresh;
mod refused;
mod sign_up;

pub use account::{Account, account};
pub use attempt::{Attempt, give_back, take};
pub use begin::{NewSignIn, begin};
pub use end::end;
pub use find::{SignInRecord, find};
pub use list::{SignInInfo, list};
pub use place::{is_known_place, know_place};
pub use purge::purge;
pub use refresh::{Refreshed, TokenSwap, refresh};
pub use refused::refused;
pub use sign_up::{NewCustomer, sign_up};
