//! How many live streams are open, in the process and for each tenant.
//!
//! A stream holds its slot until it is dropped, however it ends: a client that vanishes gives it back with its connection.

use crate::problem::{Code, Problem};
use domain::id::TenantId;
use runtime::metrics::{Gauge, gauge};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The count; cheap to clone.
#[derive(Clone)]
pub(crate) struct Slots {
    open: Arc<Mutex<Open>>,
    most: usize,
    most_of_tenant: usize,
    gauge: Gauge,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    of_tenant: HashMap<TenantId, usize>,
}

/// One open stream.
pub(crate) struct Slot {
    slots: Slots,
    tenant: TenantId,
}

impl Slots {
    pub(crate) fn new(most: usize, most_of_tenant: usize) -> Self {
        let gauge = gauge("berth_streams_open", "Live streams open", &[]).with(&[]);
        Self { open: Arc::default(), most, most_of_tenant, gauge }
    }

    /// Room for one more stream of `tenant`.
    ///
    /// # Errors
    /// `too_many_streams` when the tenant has as many as it may, `overloaded` when the process has.
    pub(crate) fn take(&self, tenant: TenantId) -> Result<Slot, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_tenant = open.of_tenant.get(&tenant).copied().unwrap_or_default();
        if of_tenant >= self.most_of_tenant {
            let most = self.most_of_tenant;
            let detail =
                format!("You have {most} live streams open, which is the limit; close one first.");
            return Err(Problem::new(Code::TooManyStreams, detail));
        }
        if open.all >= self.most {
            let detail =
                "This process has as many live streams open as it can; try again in a moment.";
            return Err(Problem::new(Code::Overloaded, detail));
        }
        open.all += 1;
        open.of_tenant.insert(tenant, of_tenant + 1);
        self.gauge.set(open.all as f64);
        Ok(Slot { slots: self.clone(), tenant })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.slots.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all = open.all.saturating_sub(1);
        self.slots.gauge.set(open.all as f64);
        match open.of_tenant.get_mut(&self.tenant) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                open.of_tenant.remove(&self.tenant);
            }
        }
    }
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots").field("most", &self.most).finish_non_exhaustive()
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
        assert_eq!(slots.open.lock().unwrap().all, 2);
    }
}
