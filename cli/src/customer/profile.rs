//! The servers that were kept, each with its key: `~/.config/berth/config.toml`, for its owner's eyes only.
//!
//! Written by `berth login` and `berth profile use`, read wherever no server or no key is given. The file is replaced as a
//! whole: whoever reads it sees the old one or the new one.

use crate::failure::Failure;
use crate::output::{self, Format, Table};
use runtime::config::{ExposeSecret, SecretString, variable};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Name of the profile when nobody gives one.
pub(super) const USUAL: &str = "default";

/// Which profile.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth profile use staging")]
pub struct ProfileUseArguments {
    /// Name.
    pub name: String,
}

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    pub server: String,
    /// The customer's key.
    pub api_key: Option<SecretString>,
    /// The operator's.
    pub operator_key: Option<SecretString>,
}

impl Profile {
    /// With a customer's key.
    pub(crate) fn of_customer(server: &str, key: SecretString) -> Self {
        Self { server: server.to_owned(), api_key: Some(key), operator_key: None }
    }

    /// With an operator's key.
    pub(crate) fn of_operator(server: &str, key: SecretString) -> Self {
        Self { server: server.to_owned(), api_key: None, operator_key: Some(key) }
    }
}

/// All of them, and where they are kept.
#[derive(Debug)]
pub(crate) struct Kept {
    path: Option<PathBuf>,
    file: File,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The one in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Entry>,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.profiles.keys()).finish()
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator_key: Option<String>,
}

impl Kept {
    /// What was kept so far; nothing where there is no file.
    pub(crate) fn read() -> Result<Self, Failure> {
        match path() {
            Some(path) => Self::read_from(path),
            None => Ok(Self { path: None, file: File::default() }),
        }
    }

    fn read_from(path: PathBuf) -> Result<Self, Failure> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(Failure::usage(format!("cannot read {}: {error}", path.display())));
            }
        };
        let open_to_others =
            fs::metadata(&path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0);
        if open_to_others {
            let path = path.display();
            output::remark(&format!(
                "berth: {path} contains keys and other users can read it; run: chmod 600 {path}"
            ));
        }
        // The parser's own message would quote the line, which may hold a key.
        let file = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            Failure::usage(format!(
                "cannot read {}, line {line}: {}; fix it, or remove it and run `berth login`",
                path.display(),
                error.message()
            ))
        })?;
        Ok(Self { path: Some(path), file })
    }

    /// The profile of that name; without a name the one in use, if any.
    pub(super) fn profile(&self, name: Option<&str>) -> Result<Option<Profile>, Failure> {
        let Some(name) = name.or(self.file.current.as_deref()) else { return Ok(None) };
        let entry = self.file.profiles.get(name).ok_or_else(|| self.unknown(name))?;
        Ok(Some(Profile {
            server: entry.server.clone(),
            api_key: entry.api_key.clone().map(Into::into),
            operator_key: entry.operator_key.clone().map(Into::into),
        }))
    }

    /// Name of the profile that is used where none is named.
    pub(super) fn current(&self) -> Option<&str> {
        self.file.current.as_deref()
    }

    /// Keeps a profile, and uses it from now on. The other kind of key that was kept for the same server stays.
    pub(crate) fn keep(&mut self, name: &str, profile: &Profile) -> Result<PathBuf, Failure> {
        let text = |key: &Option<SecretString>| {
            key.as_ref().map(|key| key.expose_secret().trim().to_owned())
        };
        let before = self.file.profiles.remove(name);
        let before = before.filter(|before| same_server(&before.server, &profile.server));
        let (api_key, operator_key) =
            before.map(|before| (before.api_key, before.operator_key)).unwrap_or_default();
        let entry = Entry {
            server: profile.server.clone(),
            api_key: text(&profile.api_key).or(api_key),
            operator_key: text(&profile.operator_key).or(operator_key),
        };
        self.file.profiles.insert(name.to_owned(), entry);
        self.file.current = Some(name.to_owned());
        self.write()
    }

    fn unknown(&self, name: &str) -> Failure {
        let known: Vec<&str> = self.file.profiles.keys().map(String::as_str).collect();
        let known = if known.is_empty() {
            "there are no profiles".to_owned()
        } else {
            format!("the profiles are: {}", known.join(", "))
        };
        Failure::usage(format!(
            "no profile `{name}`; {known}. Create one with `berth login --profile {name}`"
        ))
    }

    fn write(&self) -> Result<PathBuf, Failure> {
        let Some(path) = &self.path else {
            return Err(Failure::usage(
                "there is no home folder to store it in; set HOME or XDG_CONFIG_HOME",
            ));
        };
        let text = toml::to_string(&self.file).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", path.display()))
        })?;
        replace(path, &text).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", path.display()))
        })?;
        Ok(path.clone())
    }
}

fn path() -> Option<PathBuf> {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder =
        given("XDG_CONFIG_HOME").or_else(|| given("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("berth").join("config.toml"))
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let next = path.with_extension(format!("toml.{}", std::process::id()));
    // Its mode is set when it is made: there is no moment in which others could read it.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&next, path)).inspect_err(|_| {
        // What is left would be taken for nothing, but holds a key.
        let _gone = fs::remove_file(&next);
    })
}

/// Shows the profiles, never their keys.
pub fn list(format: Format) -> Result<(), Failure> {
    let kept = Kept::read()?;
    let current = kept.file.current.as_deref();
    match format {
        Format::Json => {
            let rows: Vec<_> = kept
                .file
                .profiles
                .iter()
                .map(|(name, entry)| json!({"name": name, "server": entry.server, "current": current == Some(name)}))
                .collect();
            output::line(&json!({ "data": rows }).to_string())
        }
        Format::Table => {
            let mut table = Table::new(["", "NAME", "SERVER"]);
            for (name, entry) in &kept.file.profiles {
                let mark = if current == Some(name) { "*" } else { "" };
                table.row([mark.to_owned(), name.clone(), entry.server.clone()]);
            }
            output::text(&table.take())
        }
    }
}

/// Uses a profile from now on.
pub fn use_it(arguments: &ProfileUseArguments) -> Result<(), Failure> {
    let mut kept = Kept::read()?;
    if !kept.file.profiles.contains_key(&arguments.name) {
        return Err(kept.unknown(&arguments.name));
    }
    kept.file.current = Some(arguments.name.clone());
    kept.write()?;
    output::remark(&format!("The current profile is `{}`.", arguments.name));
    Ok(())
}
/// Whether both are one server's address.
pub(super) fn same_server(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}
