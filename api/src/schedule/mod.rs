//! A schedule in JSON: whether what a client sends makes sense (`check`, `timing`), what it gets back (`view`, `due`).

mod check;
mod due;
mod timing;
mod view;

pub(crate) use check::template;
pub use check::{Checked, NO_PARENTS, WORKFLOW, check};
pub use due::previewed;
pub use timing::{Judged, judge};
pub use view::{fire, schedule};
