//! How many deliveries are under way: in all, of each tenant, and to each webhook.

use crate::metrics::IN_FLIGHT;
use domain::id::TenantId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use store::webhook::{Full, Hook};
use uuid::Uuid;

/// Tries at once of a webhook that has failures: enough to see that its receiver is back, few enough to be no burden meanwhile.
const FAILING: u32 = 4;
/// A tenant has so large a part of all: the others always find room, whatever its receivers do.
const PART: u32 = 4;

/// The bounds, and what is under way.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    most: u32,
    most_of_tenant: u32,
    most_of_one: u32,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    all: u32,
    of_tenant: HashMap<TenantId, u32>,
    /// Of each webhook: tries, and the most that it may have.
    of: HashMap<Uuid, (u32, u32)>,
}

/// A delivery that is under way. Dropped, its place is free.
#[derive(Debug)]
pub(crate) struct Place {
    webhook: Uuid,
    tenant: TenantId,
    held: Arc<Mutex<Held>>,
}

impl Room {
    pub(crate) fn new(most: u32, most_of_one: u32) -> Self {
        let most_of_tenant = (most / PART).max(most_of_one);
        Self { most, most_of_tenant, most_of_one, held: Arc::default() }
    }

    /// How many more may be sent to a webhook.
    pub(crate) fn of(&self, hook: &Hook) -> u32 {
        let mut held = self.held.lock();
        let most = if hook.failures > 0 { self.most_of_one.min(FAILING) } else { self.most_of_one };
        let tenant = held.of_tenant.get(&hook.tenant).copied().unwrap_or(0);
        let others =
            self.most.saturating_sub(held.all).min(self.most_of_tenant.saturating_sub(tenant));
        let Some((count, present)) = held.of.get_mut(&hook.id) else { return most.min(others) };
        *present = most;
        most.saturating_sub(*count).min(others)
    }

    /// Who has no room; `None`: nobody has.
    pub(crate) fn full(&self) -> Option<Full> {
        let held = self.held.lock();
        if held.all >= self.most {
            return None;
        }
        let webhooks = held.of.iter().filter(|(_, (count, most))| count >= most);
        let tenants = held.of_tenant.iter().filter(|(_, count)| **count >= self.most_of_tenant);
        let webhooks = webhooks.map(|(id, _)| *id).collect();
        Some(Full { webhooks, tenants: tenants.map(|(id, _)| *id).collect() })
    }

    pub(crate) fn take(&self, hook: &Hook) -> Place {
        let mut held = self.held.lock();
        held.all += 1;
        *held.of_tenant.entry(hook.tenant).or_default() += 1;
        held.of.entry(hook.id).or_insert((0, self.most_of_one)).0 += 1;
        IN_FLIGHT.set(f64::from(held.all));
        Place { webhook: hook.id, tenant: hook.tenant, held: Arc::clone(&self.held) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        held.all = held.all.saturating_sub(1);
        if let Some((count, _)) = held.of.get_mut(&self.webhook) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.of.remove(&self.webhook);
            }
        }
        if let Some(count) = held.of_tenant.get_mut(&self.tenant) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.of_tenant.remove(&self.tenant);
            }
        }
        IN_FLIGHT.set(f64::from(held.all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::webhook::WebhookSpec;

    fn hook(id: u128, tenant: u128, failures: u64) -> Hook {
        let spec = WebhookSpec {
            url: String::new(),
            events: Vec::new(),
            name: None,
            labels: Default::default(),
            schedule: None,
            workflow: None,
            headers: Default::default(),
            payload: None,
            ordered: false,
            paused: false,
        };
        let (id, tenant) = (Uuid::from_u128(id), TenantId(Uuid::from_u128(tenant)));
        Hook { id, tenant, spec, secrets: Vec::new(), failures }
    }

    #[test]
    fn a_webhook_has_its_share_and_less_while_it_fails() {
        let room = Room::new(40, 6);
        let [well, ill, other] = [hook(1, 7, 0), hook(1, 7, 3), hook(2, 7, 0)];
        assert_eq!((room.of(&well), room.of(&ill)), (6, 4));
        let places: Vec<_> = (0..6).map(|_| room.take(&well)).collect();
        assert_eq!((room.of(&well), room.of(&ill), room.of(&other)), (0, 0, 4));
        assert_eq!(room.full().unwrap().webhooks, [well.id]);
        drop(places);
        let few: Vec<_> = (0..4).map(|_| room.take(&well)).collect();
        assert_eq!(room.full(), Some(Full::default()));
        assert_eq!(room.of(&ill), 0);
        assert_eq!(room.full().unwrap().webhooks, [well.id], "it has failures now");
        drop(few);
        assert_eq!((room.full(), room.of(&well)), (Some(Full::default()), 6));
    }

    #[test]
    fn a_tenant_has_a_quarter_however_many_webhooks_it_has() {
        let room = Room::new(40, 6);
        let places: Vec<_> = (0..10).map(|number| room.take(&hook(number, 7, 0))).collect();
        let (same, other) = (hook(99, 7, 0), hook(98, 8, 0));
        assert_eq!((room.of(&same), room.of(&other)), (0, 6));
        assert_eq!(room.full().unwrap().tenants, [same.tenant]);
        let rest: Vec<_> = (0..30).map(|number| room.take(&hook(number, number, 0))).collect();
        assert_eq!((room.full(), room.of(&other)), (None, 0));
        drop((places, rest));
        assert_eq!(room.full(), Some(Full::default()));
    }
}
