//! The audit log: sealed, so that a changed or removed row is detected.
//!
//! Each tenant and the platform have a chain. A row gets its position when it is sealed, not when it is written,
//! because rows commit in another order than they are written. [`seal`] links a row to the previous one, [`Verifier`]
//! checks a chain.

mod action;
mod actor_id;
mod by;
mod entry;
mod operator_name;
mod seal;
mod verify;

pub use action::{AuditAction, TargetKind};
pub use actor_id::{ActorId, CredentialId};
pub use by::{Actor, ActorKind, By};
pub use entry::{Entry, PLATFORM};
pub use operator_name::{OperatorName, ParseOperatorNameError};
pub use seal::{Seal, seal};
pub use verify::{Gap, Head, Link, Verifier};
