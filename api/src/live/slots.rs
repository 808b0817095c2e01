//! How many live streams are open, in the process and for each tenant.
//!
//! A stream holds its slot until it is dropped, however it ends: a client that vanishes gives it back with its connection.

use crate::problem::{Code, Problem};
use domain::id::TenantId;
use runtime::metrics::{Gauge, gauge};
use runtime::shares::{NoRoom, Share, Shares};

/// The count; cheap to clone.
#[derive(Clone)]
pub(crate) struct Slots {
    open: Shares<TenantId>,
    gauge: Gauge,
}

/// One open stream.
pub(crate) struct Slot {
    open: Share<TenantId>,
    slots: Slots,
}

impl Slots {
    pub(crate) fn new(most: usize, most_of_tenant: usize) -> Self {
        let gauge = gauge("berth_streams_open", "Live streams open", &[]).with(&[]);
        Self { open: Shares::new(most, most_of_tenant), gauge }
    }

    /// Room for one more stream of `tenant`.
    ///
    /// # Errors
    /// `too_many_streams` when the tenant has as many as it may, `overloaded` when the process has.
    pub(crate) fn take(&self, tenant: TenantId) -> Result<Slot, Problem> {
        let open = self.open.acquire(tenant, 1).map_err(|no_room| self.refusal(no_room))?;
        self.gauge.set(self.open.in_use() as f64);
        Ok(Slot { open, slots: self.clone() })
    }

    fn refusal(&self, no_room: NoRoom) -> Problem {
        match no_room {
            NoRoom::OfKey => {
                let most = self.open.share();
                let detail = format!(
                    "You have {most} open live streams, which is the limit; close one first."
                );
                Problem::new(Code::TooManyStreams, detail)
            }
            NoRoom::AtAll => {
                let detail = "This process is at its limit of live streams; try again later.";
                Problem::new(Code::Overloaded, detail)
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.shrink(1);
        self.slots.gauge.set(self.slots.open.in_use() as f64);
    }
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots").field("open", &self.open.in_use()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_its_share_and_the_process_its_limit_and_both_come_back() {
        let slots = Slots::new(3, 2);
        let (a, b) = (TenantId::fresh(), TenantId::fresh());
        let code = |slot: Result<Slot, Problem>| slot.map(|_| ()).unwrap_err().code();
        let first = slots.take(a).unwrap();
        let _second = slots.take(a).unwrap();
        assert_eq!(code(slots.take(a)), Code::TooManyStreams);
        let _third = slots.take(b).unwrap();
        assert_eq!(code(slots.take(b)), Code::Overloaded);
        drop(first);
        drop(slots.take(a).unwrap());
        assert!(slots.take(b).is_ok());
        assert_eq!(slots.open.in_use(), 2);
    }
}
