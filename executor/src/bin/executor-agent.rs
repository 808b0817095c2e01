//! The agent alone, as a process of its own: what the tests of this crate kill, pause and restart.
//!
//! Settings come from the environment as for `berth executor`, which has this shape too: first the
//! supervisor's entry, then everything else.

use runtime::config;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    executor::supervise::maybe_run();
    let code = match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", runtime::error_chain::ErrorChain(error.as_ref()));
            ExitCode::FAILURE
        }
    };
    runtime::log_queue::flush(Duration::from_secs(1));
    code
}

fn run() -> Result<(), Box<dyn Error>> {
    let config = config::load(None)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    tokio.block_on(async {
        runtime::telemetry::init("executor", &config.telemetry)?;
        let tasks = TaskGroup::new();
        let (_handle, shutdown) = Shutdown::from_signals(&tasks)?;
        let secret = config.auth.executor_secret()?;
        let ended = executor::run(&config.executor, secret, shutdown).await;
        runtime::otlp::flush().await;
        Ok(ended?)
    })
}
