//! The process's environment: the only place of Berth that reads it.
//!
//! Called once at start-up by `load`. Takes what is named `BERTH_…`; a value that is not Unicode is
//! an error that names the variable, because dropping it would drop a setting silently.

use super::error::{ConfigError, Problem};

/// Prefix of everything Berth takes from the environment.
pub(super) const PREFIX: &str = "BERTH_";

/// The value of an environment variable that is not a setting (`BERTH_CONFIG`, fault points).
/// `None` when it is not set or not Unicode.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok()
}

/// Name of the variable that sets `section.key`.
pub(super) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replacen('.', "__", 1).to_uppercase())
}

/// All `BERTH_…` variables of this process, for those it starts.
///
/// # Errors
/// When one of them is not Unicode.
pub fn process() -> Result<Vec<(String, String)>, ConfigError> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Ok(name) = name.into_string() else { continue };
        if !name.starts_with(PREFIX) {
            continue;
        }
        match value.into_string() {
            Ok(value) => found.push((name, value)),
            Err(_) => {
                return Err(ConfigError::Invalid(vec![Problem {
                    key: name.clone(),
                    origin: format!("the environment variable {name}"),
                    message: "the value is not valid Unicode".to_owned(),
                }]));
            }
        }
    }
    Ok(found)
}
