//! What a tenant keeps by name.

use super::super::schedule;
use super::super::workflow;
use domain::batch::ConcurrencyKey;
use std::fmt;

/// A kind of objects, in the order in which they are written: what others name comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    ConcurrencyLimit,
    Workflow,
    Schedule,
    User,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ConcurrencyLimit, Self::Workflow, Self::Schedule, Self::User];
    /// Those that carry labels, which alone can be pruned: last written, first deleted.
    pub const PRUNED: [Self; 2] = [Self::Schedule, Self::Workflow];

    /// Its name in a file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConcurrencyLimit => "concurrency_limit",
            Self::Workflow => "workflow",
            Self::Schedule => "schedule",
            Self::User => "user",
        }
    }

    /// The kind of this name.
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The names of all kinds, for a person.
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// A name that such an object can have, as the server has it.
    pub fn name(self, text: &str) -> Result<String, String> {
        match self {
            Self::Workflow => workflow::name(text),
            Self::Schedule => schedule::name(text),
            Self::ConcurrencyLimit => match text.parse::<ConcurrencyKey>() {
                Ok(key) => Ok(key.as_str().to_owned()),
                Err(error) => Err(error.to_string()),
            },
            Self::User if text.contains('@') => Ok(text.trim().to_lowercase()),
            Self::User => Err("expected an e-mail address".to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_name_is_written_first_and_only_what_has_labels_is_pruned() {
        assert!(Kind::Workflow < Kind::Schedule && Kind::ConcurrencyLimit < Kind::Workflow);
        assert!(Kind::PRUNED.is_sorted_by(|one, next| one > next), "deleted in reverse");
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::of("api_key"), None);
    }

    #[test]
    fn a_name_is_in_the_form_of_the_server() {
        assert_eq!(Kind::User.name("Ann@Example.com"), Ok("ann@example.com".to_owned()));
        assert!(Kind::User.name("ann").is_err());
        assert!(Kind::Schedule.name("preview").is_err() && Kind::Workflow.name("preview").is_ok());
        assert!(
            Kind::ConcurrencyLimit.name("a/b").is_ok() && Kind::ConcurrencyLimit.name("").is_err()
        );
    }
}
