//! What drivers use of the agent.

use super::ending::Ended;
use crate::output::{AttemptOutput, OutputLimits, OutputQueue};
use domain::task::LeaseKey;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Where attempts run, report and write.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) tasks: TaskGroup,
    /// Attempts that have ended.
    pub(crate) ended: mpsc::Sender<(LeaseKey, Ended)>,
    pub(crate) output: Arc<OutputQueue>,
    pub(crate) limits: OutputLimits,
    /// When the lease is over, in `monotonic_ns`. Each attempt ends itself then.
    pub(crate) lease_until: watch::Sender<u64>,
}

impl Services {
    /// Runs `work`, whose end is that of the attempt.
    pub(crate) fn spawn<F>(&self, name: &'static str, lease: LeaseKey, work: F)
    where
        F: Future<Output = Ended> + Send + 'static,
    {
        let ended = self.ended.clone();
        self.tasks.spawn(name, async move {
            ended.send((lease, work.await)).await.ok();
        });
    }

    /// Where the output of an attempt goes.
    pub(crate) fn output_of(&self, lease: LeaseKey) -> Arc<AttemptOutput> {
        Arc::new(AttemptOutput::new(lease, self.limits))
    }
}
