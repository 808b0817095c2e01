//! Bodies of requests.
//!
//! The server reads them strictly: unknown fields are refused. Texts that have a form of their own stay texts in them
//! ([`DurationText`], [`TimeText`]), so that the server can report several mistakes at once. Fields that are left out have the
//! server's defaults.

mod access;
mod key;
mod operator;
mod schedule;
mod text;

pub use access::{
    InvitationAccept, PasswordChange, SessionRefresh, SignIn, SignUp, UserChange, UserCreate,
    UserInvite, UserPut,
};
pub use key::{ApiKeyCreate, ApiKeyRotate, ConcurrencyLimitPut, OperatorKeyCreate};
pub use operator::{
    MaxExecutorPut, PoolGrantsPut, PoolPause, PoolPut, TenantChange, TenantCreate, TenantPut,
};
pub use schedule::{ScheduleBackfill, SchedulePause};
pub use text::{DurationText, TimeText};
