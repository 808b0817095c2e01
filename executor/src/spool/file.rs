//! The spool's file: append, forget, compact.
//!
//! Only the writer thread holds it. After any error the file's end is unknown, so the next write
//! builds a new file from what is live and puts it in place with a rename; there is no other repair.

use super::record::{self, Record};
use domain::task::LeaseKey;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// First bytes of the file; the digit is the format.
const MAGIC: &[u8; 8] = b"BERTHSP1";
/// Dead bytes that are worth a new file.
const WORTH_COMPACTING: u64 = 4 * 1024 * 1024;

/// The spool cannot be used at all; the executor does not start.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The file cannot be read or written.
    #[error("the spool {path} cannot be used")]
    Io {
        /// Its path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is something else, or of a later version. It is not touched.
    #[error(
        "{path} is not a spool that this version can read; move it away to start without its results"
    )]
    Foreign {
        /// Its path.
        path: PathBuf,
    },
}

#[derive(Debug)]
pub(crate) struct SpoolFile {
    path: PathBuf,
    /// None after an error.
    file: Option<File>,
    file_bytes: u64,
    live: HashMap<LeaseKey, protocol::Result>,
    live_bytes: u64,
    /// Answered since the last write; goes out with the next.
    answered: Vec<u8>,
}

impl SpoolFile {
    /// Opens or makes the file and reads what earlier boots left undelivered. A torn end is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self, SpoolError> {
        let failed = |source| SpoolError::Io { path: path.to_owned(), source };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        // A file that was torn while it was made is as good as none.
        let stored = match bytes.strip_prefix(MAGIC) {
            Some(stored) => stored,
            None if MAGIC.starts_with(&bytes) => &[],
            None => return Err(SpoolError::Foreign { path: path.to_owned() }),
        };
        let mut spool = Self {
            path: path.to_owned(),
            file: None,
            file_bytes: 0,
            live: read_live(stored),
            live_bytes: 0,
            answered: Vec::new(),
        };
        // Always a fresh file: it proves at start-up that the disk can be written.
        spool.rewrite().map_err(failed)?;
        Ok(spool)
    }

    /// Everything undelivered.
    pub(crate) fn live(&self) -> impl Iterator<Item = &protocol::Result> {
        self.live.values()
    }

    /// Bytes of everything undelivered.
    pub(crate) const fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Stores `results` safely: when this returns well they survive a power cut. After an error they are
    /// remembered and written by the next call that succeeds.
    pub(crate) fn append(&mut self, results: Vec<(LeaseKey, protocol::Result)>) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.answered);
        for (key, result) in results {
            self.live_bytes += record::write_result(&result, &mut bytes) as u64;
            self.live.insert(key, result);
        }
        let dead = self.file_bytes.saturating_sub(self.live_bytes);
        if self.file.is_none() || dead > self.live_bytes.max(WORTH_COMPACTING) {
            return self.rewrite();
        }
        let written = self.write_and_sync(&bytes);
        if written.is_err() {
            self.file = None;
        }
        written
    }

    /// Forgets results that were answered. Nothing needs to be safe about it: one that is remembered
    /// by mistake is sent once more and answered again.
    pub(crate) fn forget(&mut self, keys: &[LeaseKey]) {
        let mut scratch = Vec::new();
        for key in keys {
            if let Some(result) = self.live.remove(key) {
                scratch.clear();
                let len = record::write_result(&result, &mut scratch) as u64;
                self.live_bytes = self.live_bytes.saturating_sub(len);
                record::write_answered(key, &mut self.answered);
            }
        }
        if self.live.is_empty() {
            self.answered.clear();
            self.empty();
        }
    }

    /// True when the last write failed.
    pub(crate) const fn is_broken(&self) -> bool {
        self.file.is_none()
    }

    fn write_and_sync(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(ErrorKind::NotFound.into()) };
        file.write_all(bytes)?;
        file.sync_data()?;
        self.file_bytes += bytes.len() as u64;
        Ok(())
    }

    fn empty(&mut self) {
        let start = MAGIC.len() as u64;
        if self.file_bytes > start {
            let cut = self.file.as_ref().is_some_and(|file| file.set_len(start).is_ok());
            self.file_bytes = start;
            if !cut {
                self.file = None;
            }
        }
    }

    /// A new file with only what is live, in place of the old one.
    pub(crate) fn rewrite(&mut self) -> io::Result<()> {
        self.file = None;
        self.answered.clear();
        let mut bytes = MAGIC.to_vec();
        for result in self.live.values() {
            record::write_result(result, &mut bytes);
        }
        let new = self.path.with_extension("new");
        // A crash may have left one.
        std::fs::remove_file(&new).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        // Appending keeps the position right after the file was cut.
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        self.file_bytes = bytes.len() as u64;
        self.live_bytes = self.file_bytes - MAGIC.len() as u64;
        self.file = Some(file);
        Ok(())
    }
}

fn read_live(mut stored: &[u8]) -> HashMap<LeaseKey, protocol::Result> {
    let mut live = HashMap::new();
    while let Some((record, len)) = record::read(stored) {
        match record {
            Record::Result(result) => {
                if let Ok(key) = result.key() {
                    live.insert(key, result);
                }
            }
            Record::Answered(key) => {
                live.remove(&key);
            }
        }
        stored = stored.get(len..).unwrap_or_default();
    }
    if !stored.is_empty() {
        tracing::info!(bytes = stored.len(), "The spool's end was torn and is left out");
    }
    live
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::sample;
    use super::*;

    fn keyed(result: &protocol::Result) -> (LeaseKey, protocol::Result) {
        (result.key().unwrap(), result.clone())
    }

    fn reasons(spool: &SpoolFile) -> Vec<String> {
        let mut reasons: Vec<_> = spool.live().map(|result| result.reason.clone()).collect();
        reasons.sort();
        reasons
    }

    #[test]
    fn results_stay_until_they_are_answered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let (a, b) = (sample("a"), sample("b"));
        let mut spool = SpoolFile::open(&path).unwrap();
        spool.append(vec![keyed(&a), keyed(&b)]).unwrap();
        drop(spool);
        let mut spool = SpoolFile::open(&path).unwrap();
        assert_eq!(reasons(&spool), ["a", "b"]);
        spool.forget(&[keyed(&a).0]);
        spool.append(vec![keyed(&sample("c"))]).unwrap();
        drop(spool);
        assert_eq!(reasons(&SpoolFile::open(&path).unwrap()), ["b", "c"]);
    }

    #[test]
    fn the_file_is_empty_when_all_are_answered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let mut spool = SpoolFile::open(&path).unwrap();
        for round in 0..3 {
            let result = sample(&round.to_string());
            spool.append(vec![keyed(&result)]).unwrap();
            assert!(spool.live_bytes() > 0);
            spool.forget(&[keyed(&result).0]);
            assert_eq!((spool.live_bytes(), std::fs::metadata(&path).unwrap().len()), (0, 8));
        }
    }

    #[test]
    fn a_torn_end_loses_only_itself_wherever_it_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let mut spool = SpoolFile::open(&path).unwrap();
        spool.append(vec![keyed(&sample("first"))]).unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        spool.append(vec![keyed(&sample("second"))]).unwrap();
        drop(spool);
        let bytes = std::fs::read(&path).unwrap();
        for end in 0..bytes.len() {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let left = reasons(&SpoolFile::open(&path).unwrap());
            assert_eq!(left.len(), usize::from(end as u64 >= whole), "torn at {end}");
        }
    }

    #[test]
    fn a_file_of_something_else_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(SpoolFile::open(&path), Err(SpoolError::Foreign { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn dead_records_are_compacted_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let mut spool = SpoolFile::open(&path).unwrap();
        let stays = sample("stays");
        spool.append(vec![keyed(&stays)]).unwrap();
        let mut largest = 0;
        for _ in 0..40 {
            let group: Vec<_> = (0..300).map(|_| keyed(&sample(&"x".repeat(1000)))).collect();
            let keys: Vec<_> = group.iter().map(|(key, _)| *key).collect();
            spool.append(group).unwrap();
            spool.forget(&keys);
            largest = largest.max(std::fs::metadata(&path).unwrap().len());
        }
        assert!(largest < 3 * WORTH_COMPACTING / 2, "{largest}");
        assert_eq!(reasons(&spool), ["stays"]);
        // What was forgotten last is written down with the next result.
        spool.append(vec![keyed(&sample("last"))]).unwrap();
        drop(spool);
        assert_eq!(reasons(&SpoolFile::open(&path).unwrap()), ["last", "stays"]);
    }

    #[test]
    fn after_a_failed_write_the_next_one_writes_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner/spool");
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        let mut spool = SpoolFile::open(&path).unwrap();
        // The folder is gone, so the new file that a broken spool needs cannot be made.
        std::fs::remove_dir_all(folder.path().join("inner")).unwrap();
        spool.file = None;
        assert!(spool.append(vec![keyed(&sample("a"))]).is_err());
        assert!(spool.is_broken());
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        spool.append(vec![keyed(&sample("b"))]).unwrap();
        drop(spool);
        assert_eq!(reasons(&SpoolFile::open(&path).unwrap()), ["a", "b"]);
    }
}
