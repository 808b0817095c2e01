//! `berth canary`: a customer of the platform's own, which looks whether the service does what it promises.
//!
//! It knows nothing but the API, so it may run anywhere, best where customers are. What it sees it reports with an operator key; while
//! the API does not answer, it keeps its reports.

mod fires;
mod ledger;
mod round;

use crate::customer::{Connection, ConnectionArguments};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::RetryPolicy;
use domain::id::CanaryName;
use domain::time::{format_duration, parse_duration};
use fires::Fires;
use ledger::Ledger;
use runtime::clock;
use runtime::config::SecretString;
use std::time::Duration;

/// How it looks.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Needs an API key of a tenant of its own, and an operator key with scope `report`: docs/status.md.\n\nExamples:\n  \
                  berth canary --name eu-west\n  berth canary --once          # exit code 1 where something is wrong"
)]
pub struct CanaryArguments {
    /// Name in reports. Two canaries need two names.
    #[arg(long, default_value = "canary")]
    pub name: CanaryName,
    /// Time between two rounds, 1s to 5m.
    #[arg(long, value_name = "DURATION", value_parser = period, default_value = "30s")]
    pub every: Duration,
    /// One round, which is printed and not reported.
    #[arg(long)]
    pub once: bool,
    /// Operator key. Prefer BERTH_OPERATOR_KEY: other users can see arguments.
    #[arg(long, env = "BERTH_OPERATOR_KEY", hide_env_values = true, value_name = "KEY", value_parser = crate::customer::secret)]
    pub operator_key: Option<SecretString>,
}

fn period(text: &str) -> Result<Duration, String> {
    let wanted = Duration::from_secs(1)..=Duration::from_mins(5);
    parse_duration(text)
        .ok()
        .filter(|every| wanted.contains(every))
        .ok_or_else(|| "expected a duration from 1s to 5m, such as 30s".to_owned())
}

/// Looks, until it is ended.
pub async fn run(
    arguments: &CanaryArguments,
    connection: &ConnectionArguments,
    format: Format,
) -> Result<(), Failure> {
    // A repeat would hide that the first try failed.
    let customer = Connection::new(connection, format)?.client.with_retry(RetryPolicy::NEVER);
    if arguments.once {
        let found = round::go(&customer).await?;
        output::line(&found.to_string())?;
        return found.fault().map_or(Ok(()), |fault| Err(Failure::failed(fault)));
    }
    let own = arguments.operator_key.as_ref();
    let operator = Connection::of_operator(connection, own, format)?.client;
    let mut fires = Fires::begin(&customer).await?;
    let mut ledger = Ledger::new(arguments.name.clone());
    let every = format_duration(arguments.every);
    output::line(&format!("Canary {} looks every {every}.", arguments.name))?;
    loop {
        let (began, now) = (clock::monotonic(), clock::wall());
        let found = round::go(&customer).await?;
        let mut faults: Vec<String> = found.fault().into_iter().collect();
        ledger.count(now, |seen| found.count(seen));
        faults.extend(fires.look(&customer, &mut ledger).await?);
        if let Some(news) = ledger.judge(now, &faults) {
            output::line(&news)?;
        }
        ledger.report(&operator).await?;
        clock::sleep_until(began + arguments.every).await;
    }
}
