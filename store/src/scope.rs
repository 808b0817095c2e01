//! Whose rows a call may touch.

use domain::id::TenantId;

/// The authority to act for one tenant. Tenant functions take it first, and the row-level policies
/// stand behind it: the tenant is set in the transaction, and no other rows exist there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantScope {
    tenant: TenantId,
}

impl TenantScope {
    /// For the tenant that was authenticated.
    #[must_use]
    pub const fn new(tenant: TenantId) -> Self {
        Self { tenant }
    }

    /// The tenant.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }
}
