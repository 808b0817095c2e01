//! What the simulation asks of a policy.

use domain::time::Timestamp;
use std::time::Duration;

/// Decides which tasks go. Tasks are named by their place in the world.
pub trait Policy {
    /// A task waits from now on.
    fn arrived(&mut self, now: Timestamp, task: usize);
    /// Tasks for about so many slots, in the order of their turns. Each is either placed or comes back.
    fn pick(&mut self, now: Timestamp, slots: u64) -> Vec<usize>;
    /// It runs now.
    fn placed(&mut self, _now: Timestamp, _task: usize) {}
    /// It found no room, and waits again.
    fn came_back(&mut self, now: Timestamp, task: usize);
    /// It ended.
    fn ended(&mut self, _task: usize, _used: Duration) {}
}
