//! States: a word, and a class that colours it. The word alone says all.

use api_types::Extensible;
use askama::filters::HtmlSafe;
use domain::task::State;
use std::fmt;

/// A state as a word with a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    word: String,
    tone: &'static str,
}

impl Mark {
    /// The word.
    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    /// Its class.
    pub(crate) const fn tone(&self) -> &'static str {
        self.tone
    }
}

/// A word of ours or of the API: letters, digits and `_` alone are left of it.
impl HtmlSafe for Mark {}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"<span class="mark {}">{}</span>"#, self.tone, self.word)
    }
}

/// The mark of a task's state.
pub(crate) fn mark(state: &Extensible<State>) -> Mark {
    mark_of(&state.to_string())
}

/// The mark of any state of the API.
pub(crate) fn mark_of(word: &str) -> Mark {
    let tone = match word {
        "succeeded" | "active" | "fired" | "finalized" | "final" | "paid" | "live"
        | "delivered" => "good",
        "running" | "cancelling" | "placed" => "busy",
        "failed" | "aborted" | "killed" | "expired" | "missed" | "suspended" | "lost"
        | "killed_cap" | "killed_resources" | "revoked" | "disabled" => "bad",
        "retrying"
        | "paused"
        | "draining"
        | "draft"
        | "partly_failed"
        | "waiting_for_approval"
        | "waiting_for_a_signal" => "warn",
        _ => "calm",
    };
    let kept = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
    let word = word.chars().filter(kept).take(40).map(|c| if c == '_' { ' ' } else { c });
    Mark { word: word.collect(), tone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_word_and_never_markup() {
        assert_eq!(
            mark_of("killed_cap").to_string(),
            r#"<span class="mark bad">killed cap</span>"#
        );
        assert!(!mark_of("<script>\"").to_string().contains("<script>"));
    }
}
