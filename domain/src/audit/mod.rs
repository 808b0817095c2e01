//! The audit: who changed what, sealed so that a row that was changed or removed afterwards is found.
//!
//! Each tenant has a chain of its own, and so has the platform. A row gets its place when it is sealed, not when it is written:
//! rows are committed in another order than they are begun. [`seal`] links a row to the one before, [`Verifier`] walks a chain.

mod by;
mod entry;
mod operator_name;
mod seal;
mod verify;

pub use by::{Actor, By};
pub use entry::{Entry, PLATFORM};
pub use operator_name::{OperatorName, ParseOperatorNameError};
pub use seal::{Seal, seal};
pub use verify::{Gap, Head, Link, Verifier};
