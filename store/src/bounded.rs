//! Rows whose number is bounded by their bytes, too.
//!
//! What customers write into a row may be large: a page of such rows is cut in the database, so that what is too much for an
//! answer is never sent here.

/// The first rows of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded<T> {
    /// As many as have room; one at least, where there is any.
    pub rows: Vec<T>,
    /// There are more of the page, for which there was no room.
    pub more: bool,
}
