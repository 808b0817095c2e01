//! Names of workflows and states of their runs, as they are typed.

use domain::workflow::RunState;

/// Longest name.
const MAX_NAME: usize = 100;

/// A name that a workflow can have.
pub fn name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if first && text.len() <= MAX_NAME && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, a letter or digit first"))
}

/// A state of a run.
pub fn state(text: &str) -> Result<RunState, String> {
    text.parse().map_err(|()| {
        let all: Vec<&str> = RunState::ALL.iter().map(|state| state.as_str()).collect();
        format!("expected one of {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_a_state_is_known() {
        assert!(name("load-2.daily_x").is_ok());
        for bad in ["", "-x", "a b", "a/b", "..", "-"] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert_eq!(state("expired"), Ok(RunState::Expired));
        assert!(state("ready").is_err());
    }
}
