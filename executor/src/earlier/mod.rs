//! The sessions of the boots before, in the executor's folder.
//!
//! Whoever names the session that holds a name proves to be its executor: so one that was killed is let in at once, and another
//! that was given the same name by mistake is not. They are secrets; the file is for this user alone. One that cannot be read or
//! written costs a wait for the term of the last session, and no more.

use domain::id::SessionId;
use protocol::MAX_EARLIER_SESSIONS;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use uuid::Uuid;

/// Sessions that have begun here, the newest last.
#[derive(Debug)]
pub(crate) struct Earlier {
    path: PathBuf,
    sessions: Vec<SessionId>,
}

impl Earlier {
    /// Reads what the boots before have left.
    pub(crate) fn open(path: PathBuf) -> Self {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "The sessions of earlier boots cannot be read; one whose term runs is waited for");
                String::new()
            }
        };
        let sessions = text.lines().filter_map(|line| line.parse::<Uuid>().ok());
        Self { path, sessions: sessions.map(SessionId).collect() }
    }

    /// A session begins: it is on disk before it is used.
    pub(crate) fn begin(&mut self, session: SessionId) {
        self.sessions.push(session);
        // It and those that are told of it.
        let over = self.sessions.len().saturating_sub(MAX_EARLIER_SESSIONS + 1);
        self.sessions.drain(..over);
        if let Err(error) = self.write() {
            tracing::warn!(%error, path = %self.path.display(), "The session cannot be written down; the next boot waits for its term");
        }
    }

    /// Those before `session`.
    pub(crate) fn before(&self, session: SessionId) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().copied().filter(move |earlier| *earlier != session)
    }

    fn write(&self) -> io::Result<()> {
        let text: String =
            self.sessions.iter().map(|session| format!("{}\n", session.uuid().simple())).collect();
        let next = self.path.with_extension("next");
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&next)?;
        file.write_all(text.as_bytes())?;
        fs::rename(next, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_next_boot_knows_the_last_sessions_and_nobody_else_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions");
        let mut earlier = Earlier::open(path.clone());
        let sessions: Vec<_> = (0..20).map(|_| SessionId::fresh()).collect();
        sessions.iter().for_each(|session| earlier.begin(*session));
        assert_eq!(earlier.before(sessions[19]).count(), MAX_EARLIER_SESSIONS);
        let mut next = Earlier::open(path.clone());
        let fresh = SessionId::fresh();
        next.begin(fresh);
        assert_eq!(next.before(fresh).collect::<Vec<_>>(), sessions[12..]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_read_is_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions");
        fs::write(&path, "neither\n").unwrap();
        assert_eq!(Earlier::open(path).before(SessionId::fresh()).count(), 0);
        assert_eq!(Earlier::open(folder.path().into()).before(SessionId::fresh()).count(), 0);
    }
}
