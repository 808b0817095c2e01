//! The question before something that cannot be taken back, where nothing but a yes is asked for.

use crate::frame::Frame;
use askama::Template;

/// The page.
#[derive(Template)]
#[template(path = "confirm.html")]
pub(crate) struct Confirm {
    pub frame: Frame,
    /// What will happen.
    pub says: String,
    /// Where the form goes.
    pub action: String,
    /// The page to go back to.
    pub back: String,
    pub button: &'static str,
}
