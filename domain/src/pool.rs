//! What a pool allows its attempts beyond the strict default.
//!
//! Set by the platform's operators, told to each executor when it connects. Both doors lead from customers' work into the
//! network that the executors stand in, so both are closed unless somebody opens them.

/// What attempts in a pool may do. The default allows nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolPolicy {
    /// Commands reach the network of their executor; otherwise they have none.
    pub command_network: bool,
    /// HTTP tasks reach private, loopback and link-local addresses; otherwise only public ones.
    pub private_targets: bool,
}
