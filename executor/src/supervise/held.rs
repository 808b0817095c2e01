//! Files of an attempt that have no name any more, and that one of its processes still holds.
//!
//! A file that is deleted while it is open or mapped takes its room until the last process lets go of it, and no walk over
//! folders finds it. Counted is what belongs to the attempt's user and was written by nobody else: a library of the
//! system that an upgrade has replaced is not the attempt's. Files in memory (`memfd_create`) are told apart: they
//! are no room on a disk.

use super::disk::Usage;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How the kernel marks the name of a file that has none.
const DELETED: &[u8] = b" (deleted)";
/// The name of a file in memory.
const MEMORY: &[u8] = b"/memfd:";

/// Whose files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) uid: u32,
    /// Of the file system of the work folder.
    pub(super) device: u64,
}

/// Nameless files by device and number, and how much room each takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Held {
    on_disk: HashMap<(u64, u64), u64>,
    in_memory: HashMap<(u64, u64), u64>,
}

/// What these processes hold now. One that may not be looked at holds nothing that we know of.
pub(super) fn held(pids: &[i32], owner: Owner) -> Held {
    let mut held = Held::default();
    for pid in pids {
        held.add_open(*pid, owner);
        held.add_mapped(*pid, owner);
    }
    held
}

impl Held {
    /// On disks.
    pub(super) fn usage(&self) -> Usage {
        Usage { bytes: self.on_disk.values().sum(), files: self.on_disk.len() as u64 }
    }

    /// Bytes of files in memory.
    pub(super) fn memory(&self) -> u64 {
        self.in_memory.values().sum()
    }

    /// Without what is not in `later`: that has got a name meanwhile, or is gone.
    pub(super) fn still_in(mut self, later: &Self) -> Self {
        self.on_disk.retain(|file, _| later.on_disk.contains_key(file));
        self
    }

    fn add_open(&mut self, pid: i32, owner: Owner) {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for entry in entries {
            let Ok(name) = fs::read_link(entry.path()) else { continue };
            self.add(name.as_os_str(), &entry.path(), owner);
        }
    }

    /// A mapping outlives the file it was made from, and needs it no less.
    fn add_mapped(&mut self, pid: i32, owner: Owner) {
        let Ok(maps) = fs::read(format!("/proc/{pid}/maps")) else { return };
        for line in maps.split(|byte| *byte == b'\n').filter(|line| line.ends_with(DELETED)) {
            let Some(mapping) = Mapping::parse(line) else { continue };
            let path = PathBuf::from(format!("/proc/{pid}/map_files/{}", mapping.range));
            if !self.add(mapping.name, &path, owner) {
                self.add_unseen(&mapping, owner);
            }
        }
    }

    /// What is behind `path`, a link of the kernel's to an open file; false when it may not be looked at.
    fn add(&mut self, name: &OsStr, path: &Path, owner: Owner) -> bool {
        if !name.as_bytes().ends_with(DELETED) {
            return true;
        }
        // Follows the link to the very file, whatever its name would lead to.
        let Ok(found) = fs::metadata(path) else { return false };
        if found.nlink() > 0 || !found.is_file() {
            return true;
        }
        let (file, bytes) = ((found.dev(), found.ino()), found.blocks().saturating_mul(512));
        if name.as_bytes().starts_with(MEMORY) {
            self.in_memory.insert(file, bytes);
        } else if owner.owns(&found) {
            self.on_disk.insert(file, bytes);
        }
        true
    }

    /// Only root may follow the link of a mapping. Others know its length, and that it is in the work folder.
    fn add_unseen(&mut self, mapping: &Mapping<'_>, owner: Owner) {
        if mapping.device == owner.device && mapping.is_in_work() {
            let known = self.on_disk.entry((mapping.device, mapping.number)).or_default();
            *known = (*known).max(mapping.end);
        }
    }
}

impl Owner {
    fn owns(&self, file: &Metadata) -> bool {
        // What belongs to root can be anybody's: there the file system decides.
        file.uid() == self.uid && (self.uid != 0 || file.dev() == self.device)
    }
}

/// A line of /proc/<pid>/maps.
struct Mapping<'a> {
    /// As its link is called: without the zeros that fill up a line.
    range: String,
    device: u64,
    number: u64,
    /// Up to where it reaches into its file, bytes.
    end: u64,
    name: &'a OsStr,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let at = line.iter().position(|byte| *byte == b'/')?;
        let name = OsStr::from_bytes(line.get(at..)?);
        let mut fields = std::str::from_utf8(line.get(..at)?).ok()?.split_ascii_whitespace();
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (first, last) = fields.next()?.split_once('-')?;
        let (first, last) = (hex(first)?, hex(last)?);
        let offset = hex(fields.nth(1)?)?;
        let (major, minor) = fields.next()?.split_once(':')?;
        let device = nix::libc::makedev(hex(major)?.try_into().ok()?, hex(minor)?.try_into().ok()?);
        let number = fields.next()?.parse().ok()?;
        let end = offset.checked_add(last.checked_sub(first)?)?;
        Some(Self { range: format!("{first:x}-{last:x}"), device, number, end, name })
    }

    /// Whether its name once was in a work folder, as the command sees it or as we do.
    fn is_in_work(&self) -> bool {
        let path = Path::new(self.name);
        path.starts_with(crate::isolation::WORK)
            || std::env::current_dir().is_ok_and(|folder| path.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::process::{Command, Stdio};

    const MIB: usize = 1024 * 1024;

    #[test]
    fn a_deleted_file_counts_once_as_long_as_somebody_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let own = [std::process::id().cast_signed()];
        let metadata = fs::metadata(folder.path()).unwrap();
        let owner = Owner { uid: metadata.uid(), device: metadata.dev() };
        let path = folder.path().join("file");
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(&vec![1; 3 * MIB]).unwrap();
        let again = file.try_clone().unwrap();
        let key = |file: &File| {
            let found = file.metadata().unwrap();
            (found.dev(), found.ino())
        };
        let (this, other) = (key(&file), Owner { uid: owner.uid + 1, ..owner });
        assert!(!held(&own, owner).on_disk.contains_key(&this), "it has a name");
        fs::remove_file(&path).unwrap();
        // Other tests of this process may have such files, too.
        let now = held(&own, owner);
        assert!((3 * MIB as u64..4 * MIB as u64).contains(&now.on_disk[&this]), "{now:?}");
        assert!(now.usage().bytes >= 3 * MIB as u64 && now.usage().files >= 1);
        assert!(!held(&own, other).on_disk.contains_key(&this), "somebody else's");
        drop((file, again));
        let later = held(&own, owner);
        assert!(!later.on_disk.contains_key(&this));
        assert!(!now.still_in(&later).on_disk.contains_key(&this));
    }

    #[test]
    fn a_file_that_is_only_mapped_counts_too() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        let owner = Owner { uid: metadata.uid(), device: metadata.dev() };
        // Maps a file of 2 MiB, closes and deletes it, says so and waits for the end of its input.
        let script = "import mmap,os,sys; f=open('m','wb+'); f.write(b'x'*(2<<20)); f.flush(); \
             m=mmap.mmap(f.fileno(),2<<20); f.close(); os.unlink('m'); print('x',flush=True); sys.stdin.read()";
        let started = Command::new("python3")
            .args(["-c", script])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else { return eprintln!("SKIPPED: needs python3") };
        let mut said = [0; 1];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        let found = held(&[child.id().cast_signed()], owner);
        drop(child.stdin.take());
        child.wait().unwrap();
        if nix::unistd::geteuid().is_root() {
            assert!(found.usage().bytes >= 2 * MIB as u64, "{found:?}");
            assert_eq!(found.usage().files, 1);
        }
    }

    #[test]
    fn a_line_of_the_kernel_is_understood() {
        let line =
            b"00007f00-00009f00 rw-s 00001000 08:02 1234                       /work/a b (deleted)";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((&mapping.range[..], mapping.number, mapping.end), ("7f00-9f00", 1234, 0x3000));
        assert_eq!(mapping.device, nix::libc::makedev(8, 2));
        assert_eq!(mapping.name, OsStr::new("/work/a b (deleted)"));
        assert!(mapping.is_in_work());
        assert!(Mapping::parse(b"7f00-9f00 rw-s 0 08:02 (deleted)").is_none());
    }
}
