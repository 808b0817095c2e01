//! Starts commands for the agent.

use super::attempt::{self, Assigned};
use super::ending::ended;
use super::establish::Isolation;
use super::folder::WorkFolders;
use super::spawner::Spawner;
use crate::driver::{Attempt, Driver, Services, Started, Stop};
use crate::identity::Users;
use crate::supervise::{Order, until_ns};
use domain::task::CommandRun;
use runtime::fault::FaultPoint;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A command has ended, nobody knows it yet.
static ENDED: FaultPoint = FaultPoint::new("executor.ended");

/// Starts programs with the means of this machine.
#[derive(Debug, Clone)]
pub(crate) struct CommandDriver {
    pub(crate) folders: WorkFolders,
    pub(crate) users: Users,
    pub(crate) spawner: Spawner,
    pub(crate) isolation: Arc<Isolation>,
}

impl Driver for CommandDriver {
    type Run = CommandRun;

    fn start(&self, run: CommandRun, attempt: Attempt, services: &Services) -> Started {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (lease, cap, output) = (attempt.lease, attempt.cap, services.output_of(attempt.lease));
        let network = attempt.policy.command_network;
        let assigned = Assigned {
            lease,
            run,
            measures: self.isolation.measures(&attempt.resources, network),
            traceparent: attempt.traceparent,
            due: attempt.due,
            resources: attempt.resources,
            received: attempt.received,
            began: None,
            cap_until_ns: until_ns(attempt.received + cap),
            kill_grace: attempt.kill_grace,
            folders: self.folders.clone(),
            users: self.users.clone(),
            spawner: self.spawner.clone(),
            output: Arc::clone(&output),
            queue: Arc::clone(&services.output),
            orders: inbox,
            lease_until: services.lease_until.subscribe(),
        };
        services.spawn("executor_attempt", lease, async move {
            let (end, began) = attempt::run(assigned).await;
            // Only a kill makes sense here: a test asks what becomes of a result nobody wrote down.
            ENDED.hit().await.ok();
            ended(end, cap).billed(began)
        });
        Started::Runs { stop: Box::new(Orders(orders)), output }
    }
}

/// Reaches the supervisor through the attempt's task. Nobody hears it when the attempt has just ended.
#[derive(Debug)]
struct Orders(mpsc::UnboundedSender<Order>);

impl Stop for Orders {
    fn stop(&self, grace: Option<Duration>) {
        let order = match grace {
            Some(grace) => {
                Order::Stop { grace_ms: u64::try_from(grace.as_millis()).unwrap_or(u64::MAX) }
            }
            None => Order::Kill,
        };
        self.0.send(order).ok();
    }
}
