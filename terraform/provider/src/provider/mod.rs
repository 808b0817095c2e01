//! The provider: Berth's resources behind the calls of Terraform.
//!
//! [`Service`] answers each call by the schema of the type and by what the type does: [`Resource`], [`DataSource`], [`Ephemeral`]. The
//! rules that hold for all of them are here: an object is gone only where the API says so; what exists exactly as planned is taken
//! over by its creation; secrets are in no answer but that of an ephemeral resource.

mod berth;
mod changes;
mod extra;
mod kinds;
mod problem;
mod registry;
mod service;

pub use berth::{Berth, settings};
pub use kinds::{Answer, DataSource, Ephemeral, Opening, Resource};
pub use problem::Problem;
pub use registry::Registry;
pub use service::Service;
