//! Why a dispatch of a pool stopped.

/// Why the picking ended, for operators and `explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    /// All waiting tasks were dispatched, or none may start under the limits.
    NothingWaits,
    /// No executor has room.
    NoRoom,
    /// All room is used.
    RoomUsed,
    /// The limit of one dispatch is reached.
    BatchFull,
    /// The waiting tasks have no room for their size.
    SizesLack,
    /// Limits of running tasks hold back all waiting tasks.
    Limits,
    /// The pool is paused.
    Paused,
}

impl StopReason {
    /// Its name in SQL and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
