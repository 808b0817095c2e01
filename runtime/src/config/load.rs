//! Puts the layers together and checks the result.
//!
//! Called once by each role's start-up, and by tests with an environment of their own. Either every
//! setting is known, typed and in range, or nothing starts.

use super::checks::Checks;
use super::environment;
use super::error::{ConfigError, Problem};
use super::layers::{self, Layers};
use super::redact;
use super::root::{Config, Sections};
use figment::value::Dict;
use std::path::Path;

/// The defaults, which are also the manual.
pub const DEFAULT_TOML: &str = include_str!("../../../config/default.toml");

/// What asks for faults; see `fault`.
const FAULTS: [&str; 2] = ["BERTH_FAULTS", "BERTH_FAULTS_FILE"];

/// Reads the settings of this process: the defaults, `file` or else the file named by `BERTH_CONFIG`,
/// and the environment.
///
/// # Errors
/// `ConfigError::File`/`Syntax` for the file, `Invalid` with every unknown, mistyped or out-of-range
/// setting, `NoFaultPoints` when faults are asked for in a build that has none.
pub fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
    load_around(file, &[], &[])
}

/// The same, with settings of the program's own around the environment, as pairs like those of `load_from`: a variable wins
/// over the `weaker` ones, and the `stronger` ones win over it. For a program that starts several roles (`berth up`).
///
/// # Errors
/// As `load`.
pub fn load_around(
    file: Option<&Path>,
    weaker: &[(String, String)],
    stronger: &[(String, String)],
) -> Result<Config, ConfigError> {
    if !cfg!(feature = "fault-points")
        && FAULTS.iter().any(|name| environment::variable(name).is_some())
    {
        return Err(ConfigError::NoFaultPoints);
    }
    let named = environment::variable("BERTH_CONFIG").filter(|path| !path.is_empty());
    let file = file.or(named.as_deref().map(Path::new));
    let environment = environment::process()?;
    // Of two pairs with one name the later one is taken.
    load_from(file, [weaker, &environment, stronger].concat())
}

/// The same with a given environment: pairs such as `("BERTH_API__LISTEN", "127.0.0.1:0")`. Does not
/// look at the process's environment at all, so that tests and the embedded profile can set values.
///
/// # Errors
/// As `load`.
pub fn load_from(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let defaults = layers::parse("config/default.toml", DEFAULT_TOML)?;
    let file = file.map(read).transpose()?;
    let file = file.as_ref().map(|(path, dict)| (path.as_str(), dict.clone()));
    let layers = layers::lay(defaults, file, environment.into_iter().collect())?;
    let sections: Sections = layers.merged.extract().map_err(|error| mistyped(&layers, error))?;
    let mut checks = Checks::default();
    sections.check(&mut checks);
    let problems = checks.into_problems(&layers);
    if !problems.is_empty() {
        return Err(ConfigError::Invalid(problems));
    }
    let merged: Dict = layers.merged.extract().map_err(|error| mistyped(&layers, error))?;
    Ok(sections.into_config(redact::toml(&merged)))
}

fn read(path: &Path) -> Result<(String, Dict), ConfigError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::File { path: name.clone(), source })?;
    let dict = layers::parse(&name, &text)?;
    Ok((name, dict))
}

fn mistyped(layers: &Layers, errors: figment::Error) -> ConfigError {
    let problems = errors.into_iter().map(|error| mistyped_one(layers, &error));
    ConfigError::Invalid(problems.collect())
}

/// A secret of the wrong type must not be quoted in the message.
fn mistyped_one(layers: &Layers, error: &figment::Error) -> Problem {
    let key = error.path.join(".");
    let message = if redact::is_secret(&key) {
        "expected text in quotes".to_owned()
    } else {
        error.kind.to_string()
    };
    layers.problem(&key, message)
}
