//! `berth sim`: scheduling quality under a virtual clock. Reaches no server and reads no settings.

use crate::failure::Failure;
use crate::output::{self, Format, Progress, Table};
use ::sim::{PolicyFigures, PolicyName, Report, SCENARIOS, Sizes, chart, compare, find};
use std::path::PathBuf;

/// What to simulate.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth sim --list\n  berth sim poisson --load 1.1 --seeds 5\n  \
                  berth sim flood --policy berth --policy fifo --chart flood.svg\n  \
                  berth sim poisson --tasks 1000000 --executors 1000 --tenants 10000 --policy berth"
)]
pub struct SimArguments {
    /// Scenario, see --list.
    #[arg(required_unless_present = "list")]
    pub scenario: Option<String>,
    /// List scenarios and their sizes.
    #[arg(long)]
    pub list: bool,
    /// First seed; the same seed gives the same result.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of seeds; means are shown.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Offered load; 1 is the capacity of the executors.
    #[arg(long, value_parser = load)]
    pub load: Option<f64>,
    /// Executors, four slots each.
    #[arg(long, value_parser = size(100_000))]
    pub executors: Option<usize>,
    /// Tenants.
    #[arg(long, value_parser = size(1_000_000))]
    pub tenants: Option<usize>,
    /// Tasks.
    #[arg(long, value_parser = size(100_000_000))]
    pub tasks: Option<usize>,
    /// Policy; repeatable. Default: all.
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<PolicyName>,
    /// Write a chart of wait times to this file.
    #[arg(long, value_name = "FILE.svg")]
    pub chart: Option<PathBuf>,
}

/// Simulates a scenario and shows how each policy did.
pub fn run(arguments: &SimArguments, format: Format) -> Result<(), Failure> {
    if arguments.list {
        return list(format);
    }
    let name = arguments.scenario.as_deref().unwrap_or_default();
    let scenario = find(name)
        .ok_or_else(|| Failure::usage(format!("no scenario `{name}`; see `berth sim --list`")))?;
    let SimArguments { load, executors, tenants, tasks, .. } = *arguments;
    let policies = match &arguments.policies[..] {
        [] => &PolicyName::ALL[..],
        some => some,
    };
    let mut progress: Option<Progress> = None;
    let mut tell = |ended, all| {
        progress.get_or_insert_with(|| Progress::new("ended", Some(all))).show(ended, 0);
    };
    let seeds = (arguments.seed, arguments.seeds);
    let sizes = Sizes { load, executors, tenants, tasks };
    let report = compare(scenario, sizes, policies, seeds, &mut tell);
    if let Some(mut progress) = progress {
        progress.clear();
    }
    if let Some(file) = &arguments.chart {
        std::fs::write(file, chart(&report)).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    show(&report, format)
}

fn list(format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return SCENARIOS.iter().try_for_each(json);
    }
    let mut table = Table::new(["SCENARIO", "LOAD", "EXECUTORS", "TENANTS", "TASKS"]);
    let mut about = String::new();
    for scenario in &SCENARIOS {
        let Sizes { load, executors, tenants, tasks } = scenario.sizes;
        let size = |size: Option<usize>| size.map_or_else(String::new, |size| size.to_string());
        let load = load.map_or_else(String::new, |load| load.to_string());
        table.row([scenario.name.to_owned(), load, size(executors), size(tenants), size(tasks)]);
        about.push_str(&format!("{}: {}\n", scenario.name, scenario.about));
    }
    output::text(&format!("{}\n{about}", table.take()))
}

fn show(report: &Report, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return json(report);
    }
    let mut table = Table::new([
        "POLICY", "TENANTS", "STARTED", "P50", "P99", "MAX", "MISSED", "SHARE", "JAIN", "ERROR",
        "USED",
    ]);
    report.rows.iter().for_each(|row| table.row(cells(row)));
    output::text(&table.take())
}

fn cells(row: &PolicyFigures) -> [String; 11] {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let wait = |seconds: f64| {
        if seconds < 1.0 {
            format!("{:.0} ms", seconds * 1000.0)
        } else {
            format!("{seconds:.1} s")
        }
    };
    [
        row.policy.to_string(),
        row.group.to_owned(),
        format!("{:.0}", row.started),
        wait(row.wait_p50_s),
        wait(row.wait_p99_s),
        wait(row.wait_max_s),
        format!("{:.2} %", row.missed * 100.0),
        percent(row.share),
        format!("{:.3}", row.jain),
        percent(row.share_error),
        percent(row.utilisation),
    ]
}

fn json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let json = serde_json::to_vec(document).map_err(|error| Failure::failed(error.to_string()))?;
    output::document(&json)
}

fn load(text: &str) -> Result<f64, String> {
    let load: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if load > 0.0 && load <= 100.0 {
        Ok(load)
    } else {
        Err("expected more than 0, up to 100".to_owned())
    }
}

fn size(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text| {
        let size = text.parse::<usize>().ok().filter(|size| (1..=most).contains(size));
        size.ok_or_else(|| format!("expected a number from 1 to {most}"))
    }
}
