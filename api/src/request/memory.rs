//! Bytes of bodies and answers that this process holds: bounded for all requests together, and for each tenant.
//!
//! A body is counted as it comes, because a declared length is only a promise, and an answer from when it is made until the
//! server has taken all of it. Up to [`FREE`] bytes of a request are not counted: its connection's own buffers are larger, so
//! that a limit on connections bounds them. Single submits are mostly below it and never meet these limits.

use crate::problem::{Code, Problem};
use domain::id::TenantId;
use parking_lot::Mutex;
use runtime::metrics::{Gauge, gauge};
use runtime::shares::{NoRoom, Share, Shares};
use std::sync::Arc;

/// Bytes of one request that are not counted.
pub(crate) const FREE: usize = 8 * 1024;
/// What requests without a key may hold together, and what those of operators may: this part of the whole.
const PART_OF_OTHERS: usize = 16;
/// The same at least: an answer's page of rows.
const LEAST_OF_OTHERS: usize = 1024 * 1024;

/// Whose request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A tenant's.
    Tenant(TenantId),
    /// An operator's.
    Operators,
    /// Somebody's who has no key, or whose key was not checked yet.
    Strangers,
}

/// What all requests hold; cheap to clone.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Accounts>);

struct Accounts {
    tenants: Shares<Holder>,
    /// Of their own, so that strangers take nothing from tenants, and nobody anything from operators.
    others: Shares<Holder>,
    gauge: Gauge,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("in_use", &self.in_use()).finish_non_exhaustive()
    }
}

impl Memory {
    /// `total` bytes for tenants, of which one may hold `share`.
    pub(crate) fn new(total: usize, share: usize) -> Self {
        let of_others = (total / PART_OF_OTHERS).max(LEAST_OF_OTHERS);
        let help = "Bytes of request bodies and answers in memory";
        Self(Arc::new(Accounts {
            tenants: Shares::new(total, share),
            others: Shares::new(2 * of_others, of_others),
            gauge: gauge("berth_http_bytes_in_memory", help, &[]).with(&[]),
        }))
    }

    /// What one request of `holder` holds: nothing yet.
    pub(crate) fn of(&self, holder: Holder) -> Hold {
        let held = Mutex::new(Held { bytes: 0, share: None });
        Hold(Arc::new(Kept { held, holder, memory: self.clone() }))
    }

    fn shares(&self, holder: Holder) -> &Shares<Holder> {
        match holder {
            Holder::Tenant(_) => &self.0.tenants,
            Holder::Operators | Holder::Strangers => &self.0.others,
        }
    }

    fn in_use(&self) -> usize {
        self.0.tenants.in_use() + self.0.others.in_use()
    }
}

/// What one request holds. Given back with its last clone.
#[derive(Clone)]
pub(crate) struct Hold(Arc<Kept>);

struct Kept {
    held: Mutex<Held>,
    holder: Holder,
    memory: Memory,
}

struct Held {
    bytes: usize,
    /// None while nothing is counted.
    share: Option<Share<Holder>>,
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Hold").field(&self.bytes()).finish()
    }
}

impl Hold {
    /// Bytes, counted or not.
    pub(crate) fn bytes(&self) -> usize {
        self.0.held.lock().bytes
    }

    /// Holds `more` bytes. What is more than the share of its holder counts as that: it could never be had otherwise.
    ///
    /// # Errors
    /// `too_much_in_memory` when its holder has its share, `overloaded` when all is in use; then it holds what it held.
    pub(crate) fn grow(&self, more: usize) -> Result<(), Problem> {
        let mut held = self.0.held.lock();
        let bytes = held.bytes.saturating_add(more);
        if bytes > FREE {
            let counted = bytes.min(self.0.most());
            self.0.count(&mut held, counted).map_err(|no_room| self.0.refusal(no_room))?;
        }
        held.bytes = bytes;
        Ok(())
    }

    /// Holds no more than `bytes` from now on.
    pub(crate) fn shrink_to(&self, bytes: usize) {
        let mut held = self.0.held.lock();
        if bytes < held.bytes {
            held.bytes = bytes;
            if held.give_back(self.0.most()) {
                self.0.show();
            }
        }
    }

    /// Gives back `less` bytes.
    pub(crate) fn shrink(&self, less: usize) {
        self.shrink_to(self.bytes().saturating_sub(less));
    }

    /// Holds an answer of `bytes` in place of what it held.
    ///
    /// # Errors
    /// As [`Self::grow`].
    pub(crate) fn become_answer(&self, bytes: usize) -> Result<(), Problem> {
        let held = self.bytes();
        self.shrink_to(bytes);
        self.grow(bytes.saturating_sub(held))
    }
}

impl Held {
    /// What is not held any more, where no more than `most` were counted; says whether any of it was.
    fn give_back(&mut self, most: usize) -> bool {
        if self.bytes <= FREE {
            return self.share.take().is_some();
        }
        let Some(share) = &mut self.share else { return false };
        share.shrink(share.amount().saturating_sub(self.bytes.min(most)));
        true
    }
}

impl Kept {
    /// What its holder may have.
    fn most(&self) -> usize {
        self.memory.shares(self.holder).share()
    }

    fn count(&self, held: &mut Held, bytes: usize) -> Result<(), NoRoom> {
        match &mut held.share {
            Some(share) => share.grow(bytes.saturating_sub(share.amount()))?,
            none => *none = Some(self.memory.shares(self.holder).acquire(self.holder, bytes)?),
        }
        self.show();
        Ok(())
    }

    fn refusal(&self, no_room: NoRoom) -> Problem {
        match (no_room, self.holder) {
            (NoRoom::OfKey, Holder::Tenant(_)) => {
                let most = self.most();
                let detail = format!(
                    "Your request bodies and unread responses may use {most} bytes of memory \
                     (`api.max_tenant_request_memory` of this installation): send less at once, and read the answers."
                );
                Problem::new(Code::TooMuchInMemory, detail)
            }
            (NoRoom::OfKey, Holder::Operators | Holder::Strangers) | (NoRoom::AtAll, _) => {
                let detail = "This process is at its memory limit for bodies and responses; try again later.";
                Problem::new(Code::Overloaded, detail)
            }
        }
    }

    fn show(&self) {
        self.memory.0.gauge.set(self.memory.in_use() as f64);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let held = self.held.get_mut();
        if held.share.take().is_some() {
            self.show();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn code(refused: Result<(), Problem>) -> Code {
        refused.unwrap_err().code()
    }

    #[test]
    fn small_requests_are_not_counted_and_large_ones_as_a_whole() {
        let memory = Memory::new(64 * KIB, 32 * KIB);
        let hold = memory.of(Holder::Tenant(TenantId::fresh()));
        hold.grow(FREE).unwrap();
        assert_eq!(memory.in_use(), 0);
        hold.grow(1).unwrap();
        assert_eq!(memory.in_use(), FREE + 1);
        hold.shrink(1);
        assert_eq!((hold.bytes(), memory.in_use()), (FREE, 0));
        hold.grow(20 * KIB).unwrap();
        drop(hold);
        assert_eq!(memory.in_use(), 0);
    }

    #[test]
    fn a_tenant_has_its_share_and_all_of_them_the_whole() {
        let memory = Memory::new(64 * KIB, 32 * KIB);
        let of = |tenant| memory.of(Holder::Tenant(tenant));
        let tenants = [TenantId::fresh(), TenantId::fresh(), TenantId::fresh()];
        let full = of(tenants[0]);
        full.grow(32 * KIB).unwrap();
        assert_eq!(code(of(tenants[0]).grow(9 * KIB)), Code::TooMuchInMemory);
        assert!(of(tenants[0]).grow(FREE).is_ok());
        let other = of(tenants[1]);
        other.grow(32 * KIB).unwrap();
        assert_eq!(code(of(tenants[2]).grow(9 * KIB)), Code::Overloaded);
        // Neither strangers nor operators are in the same account.
        let stranger = memory.of(Holder::Strangers);
        stranger.grow(1024 * KIB).unwrap();
        assert_eq!(code(memory.of(Holder::Strangers).grow(9 * KIB)), Code::Overloaded);
        let operator = memory.of(Holder::Operators);
        operator.grow(1024 * KIB).unwrap();
        // What is alone may be larger than that.
        full.grow(KIB).unwrap();
        assert_eq!((full.bytes(), memory.in_use()), (33 * KIB, (64 + 2048) * KIB));
    }

    #[test]
    fn an_answer_takes_the_place_of_the_body() {
        let memory = Memory::new(64 * KIB, 32 * KIB);
        let hold = memory.of(Holder::Tenant(TenantId::fresh()));
        hold.grow(20 * KIB).unwrap();
        hold.become_answer(30 * KIB).unwrap();
        assert_eq!(memory.in_use(), 30 * KIB);
        hold.become_answer(10 * KIB).unwrap();
        assert_eq!(memory.in_use(), 10 * KIB);
        hold.become_answer(1024 * KIB).unwrap();
        assert_eq!(memory.in_use(), 32 * KIB);
        hold.become_answer(KIB).unwrap();
        assert_eq!(memory.in_use(), 0);
    }
}
