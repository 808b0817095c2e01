//! `make chaos`: attacks a whole Berth and says which promises held. See docs/chaos.md.
//!
//! Prints the report, writes it as JSON, text and a chart, and ends with 0 only when every promise held that was put to the test.
//! Progress goes to standard error.

use clap::Parser;
use e2e::chaos::{Planned, Scenario, churn, plan, run};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Attacks a whole Berth, on engines of its own, and says which of its promises held.
#[derive(Debug, Parser)]
#[command(name = "chaos", max_term_width = 100)]
struct Arguments {
    /// mix, carousel, churn, or the name of one fault.
    #[arg(long, default_value = "mix")]
    scenario: String,
    /// For how long faults come (churn: how long it lasts), seconds. Else as the scenario has it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(5..=86_400))]
    duration_s: Option<u64>,
    /// The same seed plans the same faults. Else one is drawn, and printed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the JSON goes; the text and the chart go beside it.
    #[arg(long, value_name = "FILE", default_value = "target/chaos/report.json")]
    report: PathBuf,
    /// Says what would be done, and ends.
    #[arg(long)]
    plan: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let length = arguments.duration_s.map(Duration::from_secs);
    if arguments.plan {
        let scenario = Scenario::named(&arguments.scenario, length)?;
        return show(&plan(&scenario, seed)).map(|()| ExitCode::SUCCESS);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let began = runtime::clock::wall();
    let tell = |line: &str| {
        let after = (runtime::clock::wall() - began).num_milliseconds() as f64 / 1000.0;
        let mut error = std::io::stderr().lock();
        let _closed_terminal = writeln!(error, "chaos: {after:>6.1} s  {line}");
    };
    let (text, failures, files) = if arguments.scenario == "churn" {
        let report = runtime.block_on(churn(length, seed, &tell))?;
        (report.text(), report.failures(), report.write_to(&arguments.report)?)
    } else {
        let scenario = Scenario::named(&arguments.scenario, length)?;
        let report = runtime.block_on(run(&scenario, seed, &tell))?;
        (report.text(), report.failures(), report.write_to(&arguments.report)?.to_vec())
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    for file in files {
        writeln!(out, "written: {}", file.display())?;
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(planned: &[Planned]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for Planned { at, lasts, fault } in planned {
        let (at, lasts) = (at.as_secs_f64(), lasts.as_secs_f64());
        writeln!(out, "{at:>6.1} s, for {lasts:>4.1} s  {} {}", fault.kind().0, fault.whom())?;
    }
    Ok(())
}
