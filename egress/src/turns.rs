//! Whose turn it is to look a name up: a few at once, a share of them for each tenant, the rest in fair order.
//!
//! A name that nobody answers for takes as long as a lookup may take, and a tenant may have any number of them. So none
//! looks up more than its share at once; where all room is in use, tenants that wait come in turn, however many names each
//! of them has. Waiting is free: whose turn has not come has not begun.

use domain::id::TenantId;
use parking_lot::Mutex;
use runtime::shares::{NoRoom, Share, Shares};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    shares: Shares<TenantId>,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    by_tenant: HashMap<TenantId, VecDeque<oneshot::Sender<Share<TenantId>>>>,
    /// Each tenant that waits, once; who was served goes to the end.
    order: VecDeque<TenantId>,
}

/// The right to look up now. Dropped, it goes to the next one.
#[derive(Debug)]
pub(super) struct Turn {
    share: Option<Share<TenantId>>,
    turns: Turns,
}

impl Turns {
    /// `total` at once, of which a tenant may have `share`.
    pub(super) fn new(total: usize, share: usize) -> Self {
        Self { shares: Shares::new(total, share), waiting: Arc::default() }
    }

    /// Waits for the turn of `tenant`.
    pub(super) async fn turn(&self, tenant: TenantId) -> Turn {
        loop {
            let receiver = match self.now_or_place(tenant) {
                Ok(share) => return self.granted(share),
                Err(receiver) => receiver,
            };
            let mut place = Place { receiver, turns: self };
            if let Ok(share) = (&mut place.receiver).await {
                return self.granted(share);
            }
        }
    }

    fn granted(&self, share: Share<TenantId>) -> Turn {
        Turn { share: Some(share), turns: self.clone() }
    }

    fn now_or_place(
        &self,
        tenant: TenantId,
    ) -> Result<Share<TenantId>, oneshot::Receiver<Share<TenantId>>> {
        let mut waiting = self.waiting.lock();
        // Who came first among a tenant's own is first.
        if !waiting.by_tenant.contains_key(&tenant)
            && let Ok(share) = self.shares.acquire(tenant, 1)
        {
            return Ok(share);
        }
        let (sender, receiver) = oneshot::channel();
        let queue = waiting.by_tenant.entry(tenant).or_default();
        let is_new = queue.is_empty();
        queue.push_back(sender);
        if is_new {
            waiting.order.push_back(tenant);
        }
        Err(receiver)
    }

    /// Gives what is free to those whose turn it is.
    fn serve(&self) {
        let mut waiting = self.waiting.lock();
        let mut unserved = VecDeque::new();
        while let Some(tenant) = waiting.order.pop_front() {
            match self.shares.acquire(tenant, 1) {
                Ok(share) => waiting.grant(tenant, share),
                Err(NoRoom::OfKey) => unserved.push_back(tenant),
                Err(NoRoom::AtAll) => {
                    waiting.order.push_front(tenant);
                    break;
                }
            }
        }
        // They keep their place before those who were served.
        while let Some(tenant) = unserved.pop_back() {
            waiting.order.push_front(tenant);
        }
    }
}

impl Waiting {
    /// To the first of `tenant` that still waits. The tenant goes to the end where more of its own wait.
    fn grant(&mut self, tenant: TenantId, share: Share<TenantId>) {
        let Some(queue) = self.by_tenant.get_mut(&tenant) else { return };
        let mut share = share;
        while let Some(sender) = queue.pop_front() {
            match sender.send(share) {
                Ok(()) => break,
                Err(back) => share = back,
            }
        }
        if queue.is_empty() {
            self.by_tenant.remove(&tenant);
        } else {
            self.order.push_back(tenant);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.share.take());
        self.turns.serve();
    }
}

/// One that waits. It may give up in the moment in which it is granted its turn.
struct Place<'a> {
    receiver: oneshot::Receiver<Share<TenantId>>,
    turns: &'a Turns,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if let Ok(share) = self.receiver.try_recv() {
            drop(share);
            self.turns.serve();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    /// Polled once.
    fn now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        future.now_or_never()
    }

    #[test]
    fn a_tenant_has_its_share_and_others_are_served_before_its_next() {
        let turns = Turns::new(3, 2);
        let [a, b, c] = [(); 3].map(|()| TenantId::fresh());
        let want = |tenant| Box::pin(turns.turn(tenant));
        let (mut a1, mut a2, mut a3, mut a4) = (want(a), want(a), want(a), want(a));
        let first = now(&mut a1).unwrap();
        let second = now(&mut a2).unwrap();
        assert!(now(&mut a3).is_none() && now(&mut a4).is_none(), "more than its share");
        let (mut b1, mut c1) = (want(b), want(c));
        let of_b = now(&mut b1).unwrap();
        assert!(now(&mut c1).is_none(), "there is no room for anybody");
        drop(of_b);
        let of_c = now(&mut c1).unwrap();
        drop(first);
        let third = now(&mut a3).unwrap();
        assert!(now(&mut a4).is_none());
        drop((second, third, of_c));
        drop(now(&mut a4).unwrap());
        assert_eq!(turns.shares.in_use(), 0);
        assert!(turns.waiting.lock().by_tenant.is_empty() && turns.waiting.lock().order.is_empty());
    }

    #[test]
    fn tenants_that_wait_come_in_turn_however_many_each_has() {
        let turns = Turns::new(1, 1);
        let [a, b, c] = [(); 3].map(|()| TenantId::fresh());
        let mut first = Box::pin(turns.turn(c));
        let mut held = now(&mut first);
        let mut waiting: Vec<_> = [a, a, a, a, b, b]
            .into_iter()
            .map(|tenant| (tenant, Box::pin(turns.turn(tenant))))
            .collect();
        for (_, one) in &mut waiting {
            assert!(now(one).is_none());
        }
        let mut served = Vec::new();
        while !waiting.is_empty() {
            drop(held.take());
            let at = waiting.iter_mut().position(|(_, one)| {
                held = now(one);
                held.is_some()
            });
            served.push(waiting.remove(at.unwrap()).0);
        }
        assert_eq!(served, [a, b, a, b, a, a]);
    }

    #[test]
    fn one_that_gives_up_waiting_loses_no_turn_for_others() {
        let turns = Turns::new(1, 1);
        let [a, b] = [(); 2].map(|()| TenantId::fresh());
        let held = now(&mut Box::pin(turns.turn(a))).unwrap();
        let (mut first, mut second, mut third) =
            (Box::pin(turns.turn(a)), Box::pin(turns.turn(a)), Box::pin(turns.turn(b)));
        assert!(now(&mut first).is_none() && now(&mut second).is_none());
        assert!(now(&mut third).is_none());
        // One before its turn has come, one after.
        drop(first);
        drop(held);
        drop(second);
        assert!(now(&mut third).is_some());
    }
}
