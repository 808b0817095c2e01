//! A private Redis for `--full`: memory only, on 127.0.0.1, behind a password.

use super::{Places, address, programs};
use crate::failure::Failure;
use crate::up::child::{
    Keeper, Launch, Output, StopSteps, Supervised, Surroundings, end_leftovers,
};
use nix::sys::signal::Signal;
use runtime::clock;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

const START_LIMIT: Duration = Duration::from_secs(20);
const STOP: StopSteps = &[(Signal::SIGTERM, Duration::from_secs(2))];
/// A ready Redis answers anybody with an error about the missing password.
const GREETING: (&[u8], u8) = (b"PING\r\n", b'-');

/// The running server.
#[derive(Debug)]
pub struct Redis {
    server: Supervised,
    port: u16,
    url: String,
    log: PathBuf,
}

impl Redis {
    /// Starts it; [`Self::ready`] waits for it. None where it is not installed: limits are then kept by each api for itself.
    pub async fn start(
        places: &Places,
        keeper: &Keeper,
        log: PathBuf,
        password: &str,
    ) -> Result<Option<Self>, Failure> {
        let Some(program) = programs::redis() else { return Ok(None) };
        let failed = |error: io::Error| Failure::failed(format!("cannot start Redis: {error}"));
        let place = places.of_engine("redis")?;
        if !end_leftovers(&place.folder, &["redis-server", "redis-check-rdb"]).await {
            return Err(Failure::failed("another Redis runs in the data folder and does not end"));
        }
        let port = address::free_port().map_err(failed)?;
        // In a file, because anybody can read arguments.
        let settings = format!(
            "bind 127.0.0.1\nport {port}\nsave \"\"\nappendonly no\nrequirepass {password}\n"
        );
        let file = place.write("redis.conf", &settings).map_err(failed)?;
        let launch = Launch {
            program,
            arguments: vec![file.into()],
            surroundings: Surroundings::Bare,
            environment: Vec::new(),
            folder: place.folder.clone(),
            user: place.user.clone(),
            death: Signal::SIGKILL,
            output: Output::File(log.clone()),
        };
        let server = Supervised::start("redis", keeper, launch, STOP, None);
        let url = format!("redis://default:{password}@127.0.0.1:{port}/0");
        Ok(Some(Self { server, port, url, log }))
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until it answers.
    pub async fn ready(&self) -> Result<(), Failure> {
        let until = clock::monotonic() + START_LIMIT;
        while !address::answers(self.port, GREETING.0, GREETING.1).await {
            super::alive(&self.server, "Redis", &self.log)?;
            if clock::monotonic() > until {
                return Err(super::not_there("Redis", "does not answer", &self.log));
            }
            clock::sleep(Duration::from_millis(20)).await;
        }
        self.server.settle();
        Ok(())
    }

    /// Ends it.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
