//! Starts HTTP calls for the agent.

use super::attempt::{self, Assigned};
use super::ending::ended;
use crate::driver::{Attempt, Driver, Services, Started, Stop};
use domain::task::HttpRun;
use egress::{Client, Lookups};
use runtime::config::ExecutorConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Calls URLs; all calls share the bounds on lookups.
pub(crate) struct HttpDriver {
    client: Arc<Client>,
}

impl HttpDriver {
    pub(crate) fn new(config: &ExecutorConfig) -> Self {
        let [most, most_per_tenant] = [config.max_lookups, config.max_lookups_per_tenant]
            .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let (name_servers, timeout) = (config.name_servers.clone(), config.lookup_timeout);
        let lookups = Lookups { name_servers, timeout, most, most_per_tenant };
        Self { client: Arc::new(Client::new(&lookups)) }
    }
}

impl Driver for HttpDriver {
    type Run = HttpRun;

    fn start(&self, run: HttpRun, attempt: Attempt, services: &Services) -> Started {
        let (lease, stop) = (attempt.lease, Arc::new(Notify::new()));
        let (received, cap, output) = (attempt.received, attempt.cap, services.output_of(lease));
        let assigned = Assigned {
            lease,
            run,
            traceparent: attempt.traceparent,
            due: attempt.due,
            policy: attempt.policy.into(),
            cap_until: received + cap,
            client: Arc::clone(&self.client),
            // So much is kept without a gap.
            body_limit: (services.limits.head as u64).saturating_add(services.limits.tail as u64),
            output: Arc::clone(&output),
            queue: Arc::clone(&services.output),
            stop: Arc::clone(&stop),
            lease_until: services.lease_until.subscribe(),
        };
        services.spawn("executor_http", lease, async move {
            let (end, waited) = attempt::run(assigned).await;
            ended(end, cap).billed(Some(received + waited))
        });
        Started::Runs { stop: Box::new(HangUp(stop)), output }
    }
}

#[derive(Debug)]
struct HangUp(Arc<Notify>);

impl Stop for HangUp {
    /// A connection has no manners to wait for.
    fn stop(&self, _grace: Option<Duration>) {
        self.0.notify_one();
    }
}
