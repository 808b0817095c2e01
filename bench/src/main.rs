//! Measures Berth on this machine: `make bench`, on private engines, with real `berth` processes.
//!
//! Prints one table and writes `bench/report/results.json`. The rule: a figure whose tasks did not all end well is void,
//! and the program then fails. The load generator shares the cores with what it measures, so its own time is shown, too.

mod arguments;
mod clock_offset;
mod cpu;
mod embedded;
mod ended;
mod fine_timer;
mod gate;
mod http;
mod peers;
mod phase;
mod programs;
mod progress;
mod report;
mod rig;
mod statistics;
mod suite;

use clap::Parser;

fn main() -> anyhow::Result<()> {
    let arguments = arguments::Arguments::parse();
    programs::ensure_built()?;
    // One thread: the generator must not spread over the cores of those it measures.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if arguments.gate || arguments.keep {
        return runtime.block_on(gate::run(arguments.keep));
    }
    if let Some(names) = &arguments.peers {
        return runtime.block_on(peers::run(&arguments, names));
    }
    let results = runtime.block_on(suite::run(&arguments))?;
    report::publish(&results)
}
