//! Why a look at a pool handed out no more than it did.

/// What ended the picking, for operators and for who asks why a task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    /// All that waits was handed out, or can start under no limit now.
    NothingWaits,
    /// Nobody has room.
    NoRoom,
    /// All the room there is was handed out.
    RoomUsed,
    /// As many were handed out as may be at a time.
    BatchFull,
    /// What waits finds no room for its size.
    SizesLack,
    /// All that waits is held back by limits on running tasks.
    Limits,
    /// The pool is paused.
    Paused,
}

impl StopReason {
    /// As it is stored, and in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
