//! Invoices as people and programs read them: JSON, CSV and PDF.

mod csv;
mod font;
mod paper;
mod pdf;
mod view;

pub(crate) use csv::csv;
pub(crate) use pdf::pdf;
pub(crate) use view::invoice;
