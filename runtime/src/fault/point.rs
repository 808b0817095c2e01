//! The place itself.
//!
//! Written into roles and store; must cost nothing in a release build.

use super::injected::InjectedFault;

/// A place with a name.
#[derive(Debug)]
pub struct FaultPoint {
    #[cfg(feature = "fault-points")]
    name: &'static str,
}

#[cfg(not(feature = "fault-points"))]
impl FaultPoint {
    /// A point named `<crate>.<place>`; names are unique.
    #[must_use]
    pub const fn new(_name: &'static str) -> Self {
        Self {}
    }

    /// Does nothing in this build.
    ///
    /// # Errors
    /// Never in this build.
    #[inline(always)]
    pub fn hit(&self) -> std::future::Ready<Result<(), InjectedFault>> {
        std::future::ready(Ok(()))
    }
}

#[cfg(feature = "fault-points")]
impl FaultPoint {
    /// A point named `<crate>.<place>`; names are unique.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Does what the test asked for at this point; nothing when it asked for nothing.
    ///
    /// # Errors
    /// `InjectedFault` when the test asked for a failure.
    pub async fn hit(&self) -> Result<(), InjectedFault> {
        super::active::act(self.name).await
    }
}
