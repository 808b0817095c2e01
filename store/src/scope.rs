//! Whose rows a call may touch, and who touches them.

use domain::audit::By;
use domain::id::TenantId;

/// The authority to act for one tenant. Tenant functions take it first, and the row-level policies
/// stand behind it: the tenant is set in the transaction, and no other rows exist there. Whoever acts is in it, for the audit.
///
/// `testkit/tests/walls.rs` names the files that may make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantScope {
    tenant: TenantId,
    by: By,
}

impl TenantScope {
    /// For a tenant whose credential was checked, or of whom an operator asks. Made by `identity` alone.
    #[must_use]
    pub const fn authenticated(tenant: TenantId) -> Self {
        Self { tenant, by: By::SYSTEM }
    }

    /// For what a role does by itself with the rows of a tenant, and nobody asked for; the platform acts.
    #[must_use]
    pub const fn of_role(tenant: TenantId) -> Self {
        Self { tenant, by: By::SYSTEM }
    }

    /// The same, where somebody else acts.
    #[must_use]
    pub const fn acting(self, by: By) -> Self {
        Self { by, ..self }
    }

    /// The tenant.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// Who acts.
    #[must_use]
    pub const fn by(&self) -> By {
        self.by
    }
}
