//! One run: the load in peace, the same load under faults, and the judgement.

use super::fault::Planned;
use super::flow::Flow;
use super::inject::{self, Done, now_ms};
use super::judge::{Seen, judge};
use super::load::{Answers, send};
use super::plan::{plan, queue_type};
use super::probe::{self, Foreign, Limited};
use super::report::Report;
use super::rig::Rig;
use super::scenario::{LIMIT_PER_SECOND, OURS, Scenario};
use super::watch;
use crate::promise::{Promise, Violation};
use crate::{Customer, Oracle, PortsSeen, Schedules};
use runtime::clock;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::psql::Session;

/// Each schedule is due so often.
const EVERY: Duration = Duration::from_secs(10);
/// Where the customers' tasks have not drained.
const SOON: Duration = Duration::from_secs(5);
const BETWEEN_TELLING: Duration = Duration::from_secs(5);

/// What is told while it runs, line by line.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// Runs a scenario on engines of its own. Whether promises held, the report says.
///
/// # Errors
/// When it could not be run, which is no verdict on Berth.
pub async fn run(scenario: &Scenario, seed: u64, tell: Progress<'_>) -> anyhow::Result<Report> {
    let planned = plan(scenario, seed);
    tell(&format!(
        "seed {seed}: {}, {} queues, {} tasks at {}/s, {} faults in {:?}; starting engines and processes",
        scenario.name,
        queue_type(seed),
        scenario.tasks,
        scenario.rate,
        planned.len(),
        scenario.faults_for
    ));
    let mut rig = Rig::start(queue_type(seed)).await?;
    let (customers, limited) = rig.sign_up(LIMIT_PER_SECOND).await?;
    let customers = customers.map(Arc::new);
    let ledger = Ledger::at(rig.cluster.folder().join("ledger"));
    let schedules = match scenario.fires {
        0 => None,
        rate => {
            let (count, lead) = (rate * u32::try_from(EVERY.as_secs())?, Duration::from_secs(3));
            Some(Schedules::store(&rig.cluster, count, EVERY, lead, true).await?)
        }
    };

    let follow = "insert into event_consumer select id, 'chaos', 'infinity' from tenant";
    rig.cluster.database().sql(follow).await?;
    tell(&format!("in peace: {} tasks", scenario.calm_tasks));
    let calm_from = now_ms();
    let count = (scenario.calm_tasks, scenario.rate);
    let calm = send(&customers, &ledger, ("calm", count.0, count.1), clock::monotonic()).await?;
    Oracle::of(&rig.cluster).only(OURS).drained(scenario.drain).await?;
    let calm_flow = Flow::read(&Oracle::of(&rig.cluster).only(OURS), calm_from, now_ms()).await?;
    tell(&format!("in peace: {:.1} tasks/s, all have ended", calm_flow.rate()));

    let chaos_from = now_ms();
    let mut seen =
        attack(&mut rig, scenario, &planned, (&customers, &limited, &ledger), tell).await?;
    let last_ms = now_ms();
    let drained = Oracle::of(&rig.cluster).only(OURS).drained(scenario.drain).await;
    let drained_ms = now_ms() - last_ms;
    tell(&format!("drained {drained_ms} ms after load and faults"));
    if let Err(error) = drained {
        let what = format!("time(s) tasks did not drain: {error}");
        seen.answers.violations.extend(Violation::counted(Promise::Resumes, 1, what));
    }
    if let Some(schedules) = &schedules {
        schedules.pause().await?;
    }
    // What schedules and the limited tenant have made; not waited for again where nothing moves.
    let rest = if seen.answers.violations.is_empty() { scenario.drain } else { SOON };
    if let Err(error) = Oracle::of(&rig.cluster).drained(rest).await {
        let what = format!("time(s) tasks of schedules did not drain: {error}");
        seen.answers.violations.extend(Violation::counted(Promise::Resumes, 1, what));
    }
    seen.answers.submitted.all.extend(calm.submitted.all.iter().cloned());
    seen.answers.submitted.commands.extend(calm.submitted.commands.iter().cloned());
    seen.answers.violations.extend(calm.violations.iter().cloned());

    tell("judging");
    let flow = Flow::read(&Oracle::of(&rig.cluster).only(OURS), chaos_from, now_ms()).await?;
    let both: Vec<&Customer> = customers.iter().map(Arc::as_ref).collect();
    let verdict = judge(&mut rig, &mut seen, &both, (&ledger, schedules.as_ref(), &flow)).await?;
    let outcomes = Oracle::of(&rig.cluster)
        .rows("select state, count(*) from task_history group by 1 order by 2 desc")
        .await?;
    let attempts = Oracle::of(&rig.cluster)
        .rows("select outcome || case when charged then '' else ', not charged' end, count(*) from attempt group by 1 order by 2 desc")
        .await?;
    let report = Report {
        scenario: scenario.clone(),
        seed,
        calm: calm_flow,
        flow,
        seen,
        verdict,
        outcomes,
        attempts,
        ended_by_themselves: std::mem::take(&mut rig.ended),
        drained_ms,
        began_ms: chaos_from,
    };
    if !report.failures().is_empty() {
        tell(&format!("the processes' logs are in {}", rig.cluster.keep_folder().display()));
    }
    Ok(report)
}

/// The load, the probes and the faults at once.
async fn attack(
    rig: &mut Rig,
    scenario: &Scenario,
    planned: &[Planned],
    (customers, limited, ledger): (&[Arc<Customer>; 2], &Customer, &Ledger),
    tell: Progress<'_>,
) -> anyhow::Result<Seen> {
    let theirs =
        customers[1].submit_until_answered(&json!({ "run": { "noop": {} } }), "theirs").await?;
    let url = rig.cluster.database().owner_url().to_owned();
    let mut ports = PortsSeen::default();
    let mut events = watch::EventsSeen::default();
    let mut foreign = Foreign::default();
    let mut above = Limited::default();
    let began = clock::monotonic();
    let began_ms = now_ms();
    let report_done = |done: &Done| tell(&super::report::line(done, began_ms));
    let (mut answers, done): (Answers, Vec<Done>) = {
        let mut watching = pin!(async {
            tokio::join!(
                watch::ports(&url, &mut ports),
                watch::events(&url, &mut events),
                watch::leave_open(&url),
                probe::foreign(&customers[0], &theirs, &mut foreign),
                probe::limited(limited, LIMIT_PER_SECOND, began, &mut above),
                progress(&url, tell),
            )
        });
        let count = (scenario.tasks, scenario.rate);
        let mut attacked = pin!(async {
            tokio::try_join!(
                send(customers, ledger, ("chaos", count.0, count.1), began),
                inject::inject(rig, planned, began, report_done)
            )
        });
        tokio::select! {
            _ = &mut watching => anyhow::bail!("the probes ended"),
            both = &mut attacked => both?,
        }
    };
    answers.submitted.all.push(theirs);
    Ok(Seen { answers, foreign, limited: above, ports, events, done })
}

/// Tells how many tasks live and have ended, until it is dropped.
async fn progress(url: &str, tell: Progress<'_>) {
    loop {
        clock::sleep(BETWEEN_TELLING).await;
        let look = async {
            let sql = "select (select count(*) from task) || ' tasks live, ' || (select count(*) from task_history) || ' have ended'";
            Session::open(url)?.row(sql).await
        };
        match look.await {
            Ok(line) => tell(&line),
            Err(_) => tell("Postgres does not answer"),
        }
    }
}
