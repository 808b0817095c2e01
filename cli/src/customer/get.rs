//! `berth get`.

use super::connection::Connection;
use super::ended::ended;
use super::failure::failure;
use super::script;
use super::sentences::{because, starts};
use crate::failure::Failure;
use crate::output::{self, Details, Format, age, cell};
use client::{ApiResponse, ClientError, Extensible, Task, TaskCost, TaskReservation};
use domain::batch::Priority;
use domain::dependency::Join;
use domain::explain::Reason;
use domain::id::{TaskId, WorkflowRunId};
use domain::price::{Currency, Micros};
use domain::task::{CommandRun, Run, State};
use domain::time::{Timestamp, format_duration};
use runtime::clock;
use std::convert::Infallible;
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

/// A task that starts within this time waits for nothing that is worth a word.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks at why it waits.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Which task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  berth get task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  \
                  berth get --wait task_0190a6f3c1d27a3e8b1f0c2d4e5f6071 || echo did not succeed")]
pub struct GetArguments {
    /// Id of the task.
    pub id: TaskId,
    /// Wait until the task has finished; the exit code is its result. After 3 s, standard error shows why it has not started.
    #[arg(long)]
    pub wait: bool,
}

/// Shows one task.
pub async fn run(connection: &Connection, arguments: &GetArguments) -> Result<(), Failure> {
    if arguments.wait {
        wait(connection, arguments.id).await.map_err(|error| failure(&error))?;
    }
    let task = connection.client.get_with_cost(arguments.id).await;
    let task = task.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(task.json())?,
        Format::Table => output::text(&details(&task, clock::wall()))?,
    }
    if arguments.wait {
        return ended(task.id, &task.state, task.exit_code, task.reason.as_deref());
    }
    Ok(())
}

/// Waits until the task has ended; tells meanwhile, on standard error, what it waits for.
async fn wait(connection: &Connection, id: TaskId) -> Result<ApiResponse<Task>, ClientError> {
    tokio::select! {
        biased;
        task = connection.client.wait(id) => task,
        never = tell_why(connection, id) => match never {},
    }
}

/// Says why the task has not started once it has waited for some seconds, and again when that changes.
async fn tell_why(connection: &Connection, id: TaskId) -> Infallible {
    let mut printed: Option<Option<Discriminant<Reason>>> = None;
    clock::sleep(PATIENCE).await;
    loop {
        // Where it cannot be asked the wait itself says so.
        if let Ok(explanation) = connection.client.explain(id).await
            && let Some(reason) = explanation.reasons.first()
            && printed != Some(reason.known().map(discriminant))
        {
            // One that started soon needs no word.
            if printed.is_some() || starts(&explanation).is_some() {
                let why = [Some(because(reason, &explanation)), starts(&explanation)];
                let why: Vec<_> = why.into_iter().flatten().collect();
                output::remark(&format!("berth: {}", why.join(" ")));
                printed = Some(reason.known().map(discriminant));
            }
        }
        clock::sleep(BETWEEN_LOOKS).await;
    }
}

fn details(task: &Task, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", exact(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("id", task.id);
    details.some("name", task.name.as_deref());
    details.row("state", &task.state);
    details.some("reason", task.reason.as_deref());
    details.some("exit code", task.exit_code);
    details.some("run", task.run.as_ref().map(runs));
    details.row("resources", resources(task));
    details.row("pool", &task.pool);
    details.some("executor", task.executor.as_ref());
    details.some("schedule", schedule(task));
    details.some("workflow", task.workflow_run.map(|run| node(run, task.node.as_deref())));
    details.some("rerun of", task.rerun_of);
    for parent in &task.depends_on {
        details.row("after", format!("{} ({})", parent.task, parent.on));
    }
    details.some("join", task.join.as_ref().filter(|_| task.depends_on.len() > 1).map(join));
    let (failed, most) = (task.failures, task.max_attempts);
    details.row("attempts", format!("{} ({failed} of {most} failed)", task.attempts));
    details.row("delivery", &task.delivery);
    details
        .some("priority", Some(task.priority).filter(|priority| *priority != Priority::default()));
    details.some("flexible", task.flexible.then_some("until its tolerance is nearly used up"));
    details.some("concurrency", task.concurrency_key.as_deref());
    details.some("unique key", task.unique_key.as_deref());
    for (key, value) in &task.labels {
        details.row("label", format!("{key}={value}"));
    }
    details.row("created", at(task.created_at));
    details.row("due", at(task.due_at));
    // Later than its due time: in a backfill, after a jitter, and again after a failure.
    details.some("to run", (task.due_at != task.run_at).then(|| at(task.run_at)));
    details.row("start by", start_by(task, at(task.start_deadline)));
    details.some("started", task.started_at.map(at));
    details.some("finished", task.finished_at.map(at));
    details.row("cap", format_duration(task.execution_cap));
    details.some("reserves", task.reservation.as_ref().map(reserves));
    details.some("cost", task.cost.as_deref().and_then(costs));
    details.to_string()
}

/// What it reserves of spend caps, and of which.
fn reserves(reservation: &TaskReservation) -> String {
    let TaskReservation { amount, spent, currency, price_book, caps } = reservation;
    let digits = currency.map_or(2, Currency::digits);
    let units = |amount: Micros| amount.in_units(digits);
    let code = currency.map(|code| format!(" {code}")).unwrap_or_default();
    let by = price_book.as_ref().map(|book| format!(", by {book}")).unwrap_or_default();
    let caps = match caps.as_slice() {
        [] => "no spend cap".to_owned(),
        caps => caps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    format!("{}{code} of {caps} ({} spent{by})", units(*amount), units(*spent))
}

/// What its ended attempts cost; `None`: none has ended.
fn costs(costs: &[TaskCost]) -> Option<String> {
    let cost = |cost: &TaskCost| match cost.currency {
        Some(code) => format!("{} {code}", cost.cost.in_units(code.digits())),
        None if costs.len() == 1 => "unpriced: no prices held, and nothing is billed".to_owned(),
        None => format!("{} unpriced", plural(cost.attempts)),
    };
    let all: Vec<_> = costs.iter().map(cost).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn plural(attempts: u32) -> String {
    format!("{attempts} attempt{}", if attempts == 1 { "" } else { "s" })
}

/// How many of its parents must end as asked.
fn join(join: &Extensible<Join>) -> String {
    match join {
        Extensible::Known(Join::All) => "all".to_owned(),
        Extensible::Known(Join::Any) => "any".to_owned(),
        Extensible::Known(Join::AtLeast(wanted)) => format!("at least {wanted}"),
        Extensible::Other(other) => other.to_string(),
    }
}

/// Where in a workflow run it is.
fn node(run: WorkflowRunId, node: Option<&str>) -> String {
    node.map_or_else(|| run.to_string(), |node| format!("{run}, node {node}"))
}

/// The schedule that made it, by name where that is known.
pub(super) fn schedule(task: &Task) -> Option<String> {
    let id = task.schedule?;
    Some(match &task.schedule_name {
        Some(name) => format!("{name} ({id})"),
        None => id.to_string(),
    })
}

/// What a task runs, on one line. Its environment and input are left to `--output json`: they may be secret.
pub(super) fn runs(run: &Extensible<Run>) -> String {
    match run {
        Extensible::Known(Run::Command(CommandRun { argv, .. })) => {
            let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
            let words = || argv.iter().map(|word| cell::word(word)).collect::<Vec<_>>().join(" ");
            script::typed(&argv).unwrap_or_else(words)
        }
        Extensible::Known(Run::Http(http)) => {
            let later = if http.complete.is_answer() { "" } else { ", completed by a callback" };
            format!("{} {}{later}", http.method, cell::plain(&http.url))
        }
        Extensible::Known(Run::Noop(noop)) => format!("noop for {}", format_duration(noop.sleep)),
        Extensible::Other(run) => {
            run.as_object().and_then(|run| run.keys().next()).cloned().unwrap_or_default()
        }
    }
}

/// Until when it should start; how far that lies ahead only where it is still to start.
fn start_by(task: &Task, deadline: String) -> String {
    let started = task.started_at.is_some();
    match &task.state {
        state if task.is_finished() && !started && *state != State::Succeeded => {
            format!("{}; not started in time", exact(task.start_deadline))
        }
        state if task.is_finished() || state.is(|state| state.is_leased()) => {
            exact(task.start_deadline)
        }
        _ if task.expire_if_late && !started => format!("{deadline}; then it expires"),
        _ => deadline,
    }
}

fn exact(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

fn resources(task: &Task) -> String {
    let needs = task.resources;
    let tier = task.tier.as_ref().map(|tier| format!("{tier}: ")).unwrap_or_default();
    format!(
        "{tier}{} millicores, {} MiB memory, {} MiB disk, {} iops, {} ports",
        needs.cpu_millis, needs.memory_mib, needs.disk_mib, needs.iops, needs.ports
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_task_reserves_is_shown_in_units_with_its_caps() {
        let reserves = |json| reserves(&serde_json::from_value(json).unwrap());
        let of_two = json!({"amount": 1_500_000, "spent": 20_000, "currency": "EUR", "price_book": "eur", "caps": ["all", "ml"]});
        assert_eq!(reserves(of_two), "1.50 EUR of all, ml (0.02 spent, by eur)");
        let of_none =
            json!({"amount": 0, "spent": 0, "currency": null, "price_book": null, "caps": []});
        assert_eq!(reserves(of_none), "0.00 of no spend cap (0.00 spent)");
    }

    #[test]
    fn what_a_task_costs_is_shown_exactly_or_said_to_be_unpriced() {
        let costs = |json| costs(&serde_json::from_value::<Vec<TaskCost>>(json).unwrap());
        let of = |currency: Option<&str>, attempts, cost: i64| json!({"currency": currency, "unpriced": currency.is_none(), "attempts": attempts, "cost": cost});
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(costs(json!([of(Some("EUR"), 2, 1_234_567)])), said("1.234567 EUR"));
        assert_eq!(costs(json!([of(Some("EUR"), 1, 20_000)])), said("0.02 EUR"));
        let none = costs(json!([of(None, 1, 0)]));
        assert_eq!(none, said("unpriced: no prices held, and nothing is billed"));
        let both = costs(json!([of(None, 1, 0), of(Some("EUR"), 1, 500_000)]));
        assert_eq!(both, said("1 attempt unpriced, 0.50 EUR"));
        assert_eq!(costs(json!([])), None);
    }

    #[test]
    fn what_a_task_runs_is_shown_on_one_line_without_its_environment() {
        let run = json!({"command": {"argv": ["bash", "-c", "echo \"hi\"\n"], "env": {"TOKEN": "hunter2"}, "stdin": "hunter2"}});
        let runs = |run| runs(&serde_json::from_value(run).unwrap());
        assert_eq!(runs(run), r#"bash -c 'echo "hi"\n'"#);
        assert_eq!(runs(json!({"noop": {"sleep": "5s"}})), "noop for 5s");
        assert_eq!(runs(json!({"of_tomorrow": {}})), "of_tomorrow");
    }
}
