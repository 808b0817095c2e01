//! The page that says what a lever will do, with the fields that it needs.

use super::words::path;
use crate::frame::{Frame, Section};
use crate::visit::Visit;
use askama::Template;
use chrono::TimeDelta;
use runtime::clock::wall;

/// For how long the old secret can stay good: hours and words.
const KEEPS: [(&str, &str); 4] =
    [("24h", "one day"), ("1h", "one hour"), ("168h", "a week"), ("0s", "not at all")];

/// The page.
#[derive(Template)]
#[template(path = "webhooks/lever.html")]
pub(super) struct Ask {
    frame: Frame,
    name: String,
    path: String,
    /// Where the form goes.
    action: String,
    /// The page to go back to.
    back: String,
    once: String,
    /// Which fields it has: of `rotate` and `replay`.
    word: &'static str,
    says: String,
    button: &'static str,
    is_danger: bool,
    keeps: Vec<(&'static str, &'static str, bool)>,
    from: String,
    until: String,
    is_all: bool,
    /// What is wrong with what was entered.
    pub(super) wrong: Option<String>,
    /// What it came to.
    pub(super) came_to: Option<String>,
}

/// What is asked.
pub(super) struct Question {
    pub(super) title: &'static str,
    pub(super) word: &'static str,
    pub(super) says: String,
    pub(super) button: &'static str,
    pub(super) is_danger: bool,
}

impl Ask {
    /// Of a webhook, for a form that goes to `action`.
    pub(super) fn new(visit: &Visit, question: Question, action: String, back: String) -> Self {
        let Question { title, word, says, button, is_danger } = question;
        let name = visit.part("name");
        let text = |field| visit.form.text(field).to_owned();
        let keep = visit.form.get("keep_old").unwrap_or("24h");
        // Longer than deliveries are tried.
        let week_ago = || (wall() - TimeDelta::days(7)).format("%Y-%m-%dT%H:%M").to_string();
        Self {
            frame: Frame::new(visit, Section::Webhooks, title),
            path: path(&name),
            name,
            action,
            back,
            once: visit.once(),
            word,
            says,
            button,
            is_danger,
            keeps: KEEPS.map(|(length, words)| (length, words, length == keep)).to_vec(),
            from: visit.form.get("from").map_or_else(week_ago, ToOwned::to_owned),
            until: text("until"),
            is_all: visit.form.text("only") == "all",
            wrong: None,
            came_to: None,
        }
    }
}
