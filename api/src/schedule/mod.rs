//! A schedule in JSON: whether what a client sends makes sense (`check`, `timing`, without a server `offline`), what it gets back (`view`, `due`).

mod check;
mod due;
mod offline;
mod timing;
mod view;

pub(crate) use check::template;
pub use check::{Checked, NO_PARENTS, WORKFLOW, check};
pub use due::previewed;
pub use offline::{NormalSchedule, check_offline};
pub use timing::{Judged, judge};
pub use view::{fire, schedule};
