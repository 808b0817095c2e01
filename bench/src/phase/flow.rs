//! Submits at a fixed rate; only those in the middle count.
//!
//! The first submits find all processes asleep, and the last ones share the cpu with the next step of the measurement.
//! Neither is steady state; at 200 per second both together are a sixth of the tasks above p99.

use super::WARM_UP_S;
use crate::cpu::{Cpu, Meter};
use crate::http::{Connection, Sent, open_loop};
use bytes::Bytes;
use runtime::clock;
use std::time::Duration;

/// Seconds of submits after those that count.
const AFTER_S: u32 = 1;
/// Processor time is read so long before the first that counts, and so long after the last: reading it takes some itself.
const APART: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    rate: u32,
    counted: u32,
}

impl Flow {
    /// Of `rate` a second, for `length` in whole seconds.
    pub(super) fn new(rate: u32, length: Duration) -> anyhow::Result<Self> {
        Ok(Self { rate, counted: rate * u32::try_from(length.as_secs())? })
    }

    /// How many are submitted in all.
    pub(super) const fn all(self) -> u32 {
        self.counted + self.rate * (WARM_UP_S + AFTER_S)
    }

    /// Submits all; those that count, in their order.
    pub(super) async fn submit(
        self,
        connections: &mut [Connection],
        body: &Bytes,
    ) -> anyhow::Result<Vec<Sent>> {
        let every = Duration::from_secs(1) / self.rate;
        let mut sent = open_loop(connections, body, every, self.all()).await?;
        sent.sort_by_key(|one| one.intended);
        let before = self.rate as usize * WARM_UP_S as usize;
        Ok(sent.into_iter().skip(before).take(self.counted as usize).collect())
    }

    /// What a submit takes while [`Self::submit`] runs; to be started with it.
    pub(super) async fn metered(self, meter: &Meter) -> Cpu {
        let length = Duration::from_secs(1) * self.counted / self.rate + APART * 2;
        clock::sleep(Duration::from_secs(WARM_UP_S.into()) - APART).await;
        let before = meter.read();
        clock::sleep(length).await;
        meter.since(&before, u64::from(self.rate) * length.as_millis() as u64 / 1000)
    }
}
