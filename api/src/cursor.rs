//! Opaque list positions: base64url of (version, list, context, position, signature).
//!
//! Made and read by the list routes. Signed with the tenant, so that a cursor is worth nothing to
//! another one, and bound to the list and its filters, so that it cannot be carried to a question it was
//! not made for. Whatever does not verify is `invalid_cursor`, without saying why.

use crate::problem::{Code, Problem};
use api_types::Cursor;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::TenantId;
use hmac::{Hmac, Mac};
use identity::key::KeyHasher;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

const VERSION: u8 = 1;
const CONTEXT_LEN: usize = 8;
const HEAD_LEN: usize = 2 + CONTEXT_LEN;
const MAC_LEN: usize = 16;
/// Longer texts are not decoded. The longest position is a concurrency key: 200 characters of 4 bytes.
const MAX_TEXT: usize = 1200;

/// Which list a cursor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// A tenant's tasks.
    Tasks,
    /// A task's attempts.
    Attempts,
    /// A task's output.
    Logs,
    /// A tenant's API keys.
    Keys,
    /// A tenant's users.
    Users,
    /// The audit.
    Audit,
    /// A tenant's concurrency limits.
    ConcurrencyLimits,
    /// A tenant's schedules.
    Schedules,
    /// What became of a schedule's due times.
    Fires,
    /// A tenant's workflows.
    Workflows,
    /// The versions of a workflow.
    WorkflowVersions,
    /// A tenant's workflow runs.
    WorkflowRuns,
    /// The attempts of a line of an invoice.
    InvoiceAttempts,
    /// A tenant's events.
    Events,
    /// What was sent to a webhook.
    WebhookDeliveries,
    /// What was used, for operators.
    UsageEvents,
    /// The tenants, for operators.
    Tenants,
    /// The connected executors, for operators.
    Executors,
}

impl List {
    const fn number(self) -> u8 {
        match self {
            Self::Tasks => 1,
            Self::Attempts => 2,
            Self::Logs => 3,
            Self::Keys => 10,
            Self::Users => 11,
            Self::Audit => 15,
            Self::ConcurrencyLimits => 16,
            Self::Schedules => 17,
            Self::Fires => 18,
            Self::Workflows => 12,
            Self::WorkflowRuns => 13,
            Self::WorkflowVersions => 25,
            Self::InvoiceAttempts => 19,
            Self::Events => 23,
            Self::WebhookDeliveries => 24,
            Self::UsageEvents => 22,
            Self::Tenants => 20,
            Self::Executors => 21,
        }
    }
}

/// What a cursor is bound to: a list with certain filters. Built from the filters' texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    list: List,
    hash: [u8; CONTEXT_LEN],
}

impl Context {
    /// `parts` are the filters, in an order of the list's own; each is separated from the next.
    pub fn new<'a>(list: List, parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut sha = Sha256::new();
        for part in parts {
            sha.update((part.len() as u64).to_be_bytes());
            sha.update(part);
        }
        let mut hash = [0; CONTEXT_LEN];
        hash.copy_from_slice(&sha.finalize()[..CONTEXT_LEN]);
        Self { list, hash }
    }
}

/// Signs and verifies cursors. All api processes share the key.
#[derive(Clone)]
pub struct Sealer(Hmac<Sha256>);

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    /// With a key derived from the installation's secret.
    #[must_use]
    pub fn new(hasher: &KeyHasher) -> Self {
        Self(hasher.derived_mac(b"cursor/v1"))
    }

    /// The cursor that says "after this position".
    #[must_use]
    pub fn seal(&self, tenant: TenantId, context: Context, position: &[u8]) -> Cursor {
        let mut bytes = Vec::with_capacity(HEAD_LEN + position.len() + MAC_LEN);
        bytes.extend_from_slice(&[VERSION, context.list.number()]);
        bytes.extend_from_slice(&context.hash);
        bytes.extend_from_slice(position);
        let mac = self.sign(tenant, &bytes);
        bytes.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(bytes).into()
    }

    /// The position in a cursor.
    ///
    /// # Errors
    /// `invalid_cursor` when it was not sealed for this tenant and context.
    pub fn open(
        &self,
        tenant: TenantId,
        context: Context,
        cursor: &Cursor,
    ) -> Result<Vec<u8>, Problem> {
        self.verified(tenant, context, cursor.as_str()).ok_or_else(|| {
            Problem::at(
                Code::InvalidCursor,
                "query:cursor",
                "does not belong to this list and these filters; start again without it",
            )
        })
    }

    fn verified(&self, tenant: TenantId, context: Context, text: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(text.get(..).filter(|t| t.len() <= MAX_TEXT)?).ok()?;
        let (signed, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_LEN)?)?;
        let genuine: bool = self.sign(tenant, signed).ct_eq(mac).into();
        let (head, position) = signed.split_at_checked(HEAD_LEN)?;
        let fits = head[..2] == [VERSION, context.list.number()] && head[2..] == context.hash;
        (genuine && fits).then(|| position.to_vec())
    }

    fn sign(&self, tenant: TenantId, bytes: &[u8]) -> [u8; MAC_LEN] {
        let mac =
            self.0.clone().chain_update(tenant.uuid().as_bytes()).chain_update(bytes).finalize();
        let mut short = [0; MAC_LEN];
        short.copy_from_slice(&mac.into_bytes()[..MAC_LEN]);
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    fn sealer(secret: &str) -> Sealer {
        Sealer::new(&KeyHasher::new(&SecretString::from(secret.to_owned())).unwrap())
    }

    #[test]
    fn a_cursor_opens_for_its_tenant_list_and_filters_only() {
        let sealer = sealer("one secret of some length, indeed");
        let (tenant, context) = (TenantId::fresh(), Context::new(List::Tasks, ["ready", ""]));
        let text = sealer.seal(tenant, context, b"0123456789abcdef");
        assert_eq!(sealer.open(tenant, context, &text).unwrap(), b"0123456789abcdef");
        assert!(sealer.open(TenantId::fresh(), context, &text).is_err(), "another tenant");
        for other in [
            Context::new(List::Attempts, ["ready", ""]),
            Context::new(List::Tasks, ["", "ready"]),
            Context::new(List::Tasks, ["rea", "dy"]),
            Context::new(List::Tasks, []),
        ] {
            assert!(sealer.open(tenant, other, &text).is_err(), "{other:?}");
        }
        assert!(
            self::sealer("another secret of some length..").open(tenant, context, &text).is_err()
        );
    }

    #[test]
    fn a_forged_or_cut_cursor_is_refused() {
        let sealer = sealer("one secret of some length, indeed");
        let (tenant, context) = (TenantId::fresh(), Context::new(List::Tasks, []));
        let good = sealer.seal(tenant, context, b"0123456789abcdef");
        let bytes = URL_SAFE_NO_PAD.decode(good.as_str()).unwrap();
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            let opens = |bytes: &[u8]| {
                sealer.open(tenant, context, &URL_SAFE_NO_PAD.encode(bytes).into()).is_ok()
            };
            assert!(!opens(&bad) && !opens(&bytes[..at]), "byte {at}");
        }
        for bad in ["", "a", "!!!!", "é", &format!("{good}="), &"A".repeat(10_000)] {
            let error = sealer.open(tenant, context, &bad.into()).unwrap_err();
            assert_eq!(error.code(), Code::InvalidCursor);
        }
    }
}
