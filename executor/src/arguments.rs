//! The first arguments by which this binary becomes one of its own helpers; see `supervise::maybe_run`.

/// A supervisor; the second argument is the agent's process id.
pub(crate) const SUPERVISE: &str = "__supervise";
/// The process beside an isolated command.
pub(crate) const INSIDE: &str = "__inside";
/// A process that only waits for the end of its input.
pub(crate) const WAIT: &str = "__rest";
