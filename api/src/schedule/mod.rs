//! A schedule in JSON: what a client sends (`spec`), whether it makes sense (`check`, `timing`), what it gets back (`view`, `due`).

mod check;
mod due;
mod spec;
mod timing;
mod view;

pub use check::{Checked, check};
pub use due::previewed;
pub use spec::{
    CatchUpSpec, DailySpec, EverySpec, MisfireSpec, MonthlySpec, ScheduleSpec, TimingSpec,
    WeeklySpec, WhenSpec, YearlySpec,
};
pub use timing::{Judged, judge};
pub use view::{fire, schedule};
