//! What is made by chance once and must stay the same: with another secret no key would be good any more.
//!
//! In one file of the data folder that nobody else can read. The rule: it is on disk before anything is made with it.

use super::folder::Folder;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "secrets.json";
/// Bytes of chance in each.
const STRENGTH: usize = 32;

/// The secrets of one data folder. Not shown in `Debug`.
#[derive(Serialize, Deserialize)]
pub struct Secrets {
    /// Key of the keyed hash of API keys.
    pub key_hash: String,
    /// What executors show.
    pub executor: String,
    /// What access tokens of users are signed with. A folder that an older version made has none yet.
    #[serde(default)]
    pub jwt: String,
    /// Password of the service logins.
    pub service_password: String,
    /// Password of the private engines.
    pub engine_password: String,
    /// The first API key.
    pub api_key: Option<String>,
    /// The first operator key. A folder that an older version made has none yet.
    #[serde(default)]
    pub operator_key: Option<String>,
}

impl Secrets {
    /// Reads the folder's, or makes them.
    pub fn of(folder: &Folder) -> Result<Self, Failure> {
        let path = folder.file(FILE);
        let failed = |what: String| {
            Failure::failed(format!(
                "the secrets in {} cannot be used: {what}. Without them the data is lost to you: restore the file, or \
                 begin anew in another folder (--data-dir)",
                path.display()
            ))
        };
        match fs::read_to_string(&path) {
            Ok(text) => {
                let mut kept: Self =
                    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
                if kept.jwt.is_empty() {
                    kept.jwt = random_hex(STRENGTH).map_err(|error| failed(error.to_string()))?;
                    kept.store(folder)?;
                }
                Ok(kept)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let made = Self::make().map_err(|error| failed(error.to_string()))?;
                made.store(folder)?;
                Ok(made)
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Writes them to the folder.
    pub fn store(&self, folder: &Folder) -> Result<(), Failure> {
        let path = folder.file(FILE);
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other);
        text.and_then(|text| replace_private(&path, &text)).map_err(|error| {
            Failure::failed(format!("cannot write the secrets to {}: {error}", path.display()))
        })
    }

    fn make() -> io::Result<Self> {
        Ok(Self {
            key_hash: random_hex(STRENGTH)?,
            executor: random_hex(STRENGTH)?,
            jwt: random_hex(STRENGTH)?,
            service_password: random_hex(STRENGTH)?,
            engine_password: random_hex(STRENGTH)?,
            api_key: None,
            operator_key: None,
        })
    }
}

/// So many bytes of chance, as text.
pub fn random_hex(bytes: usize) -> io::Result<String> {
    let mut chance = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut chance)?;
    Ok(chance.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a new file that nobody else can read; it must not be there.
pub fn write_private(path: &Path, text: &str) -> io::Result<File> {
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Replaces a file, or makes it: whole or not at all, and readable by nobody else.
pub fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".new");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_private(Path::new(&draft), text)?.sync_all()?;
    fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn secrets_stay_the_same_are_private_and_a_broken_file_is_not_replaced() {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::open(Some(data.path())).unwrap();
        let first = Secrets::of(&folder).unwrap();
        assert_eq!(Secrets::of(&folder).unwrap().key_hash, first.key_hash);
        assert_ne!(first.key_hash, first.executor);
        let file = folder.file(FILE);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // As an older version wrote it.
        let mut older: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        older.as_object_mut().unwrap().remove("jwt").unwrap();
        fs::write(&file, older.to_string()).unwrap();
        let made = Secrets::of(&folder).unwrap();
        assert_eq!((made.key_hash, made.jwt.len()), (first.key_hash, 64));
        assert_eq!(Secrets::of(&folder).unwrap().jwt, made.jwt);
        fs::write(&file, "{").unwrap();
        assert!(Secrets::of(&folder).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    }
}
