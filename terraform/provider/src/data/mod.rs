//! Data sources: what Terraform only reads. Those of objects have the attributes of their resources.

mod executors;
mod limits;
mod object;
mod schedule_preview;
mod usage;

use crate::provider::DataSource;

/// Every data source.
#[must_use]
pub fn all() -> Vec<Box<dyn DataSource>> {
    vec![
        Box::new(object::of(crate::resources::plan::Plan)),
        Box::new(object::of(crate::resources::price_book::PriceBook)),
        Box::new(object::of(crate::resources::pool::Pool)),
        Box::new(object::of(crate::resources::tenant::Tenant)),
        Box::new(limits::Limits),
        Box::new(usage::Usage),
        Box::new(executors::Executors),
        Box::new(schedule_preview::SchedulePreview),
    ]
}
