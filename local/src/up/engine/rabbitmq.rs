//! A private RabbitMQ for `--full`, with an epmd of its own.
//!
//! It listens on 127.0.0.1 only, on a port of the moment. What it holds are hints: nothing is lost when it is killed, so it waits for
//! no disk, and begins empty each time.

use super::{Places, address, programs};
use crate::failure::Failure;
use crate::up::child::{
    Keeper, Launch, Output, StopSteps, Supervised, Surroundings, end_leftovers,
};
use crate::up::secrets::random_hex;
use nix::sys::signal::Signal;
use runtime::clock;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP: StopSteps = &[(Signal::SIGTERM, Duration::from_secs(8))];
const STOP_EPMD: StopSteps = &[(Signal::SIGTERM, Duration::from_millis(200))];
/// A client's first words, and the first byte of the answer.
const GREETING: (&[u8], u8) = (b"AMQP\x00\x00\x09\x01", 1);
const PROGRAMS: [&str; 5] = ["beam.smp", "epmd", "erl_child_setup", "inet_gethost", "erlexec"];
/// No epmd but ours, no address but this machine's, no busy waiting, and quorum queues that sync no hint: its row is in Postgres.
const ERLANG: &str = "-start_epmd false -kernel inet_dist_use_interface {127,0,0,1} \
    +sbwt none +sbwtdcpu none +sbwtdio none -ra wal_sync_method none";
/// What lets a process of this machine join the Erlang node. Erlang makes one of 20 letters where there is none, from
/// the time of day mostly.
const COOKIE: &str = ".erlang.cookie";
/// Bytes of chance in it.
const COOKIE_STRENGTH: usize = 32;
/// Where it keeps what it holds.
const KEPT: &str = "mnesia";

/// The running broker.
#[derive(Debug)]
pub struct RabbitMq {
    epmd: Supervised,
    broker: Supervised,
    port: u16,
    url: String,
    log: PathBuf,
}

impl RabbitMq {
    /// Starts it; [`Self::ready`] waits for it.
    pub async fn start(
        places: &Places,
        keeper: &Keeper,
        log: PathBuf,
        password: &str,
    ) -> Result<Self, Failure> {
        let server = programs::rabbitmq()?;
        let epmd = programs::find("epmd")
            .ok_or_else(|| Failure::usage("RabbitMQ needs `epmd`; install erlang-base"))?;
        let place = places.of_engine("rabbitmq")?;
        if !end_leftovers(&place.folder, &PROGRAMS).await {
            return Err(Failure::failed(format!(
                "another RabbitMQ runs in {} and does not end",
                place.folder.display()
            )));
        }
        let failed = |error: io::Error| Failure::failed(format!("cannot start RabbitMQ: {error}"));
        let (port, epmd_port, between) = (
            address::free_port().map_err(failed)?,
            address::free_port().map_err(failed)?,
            address::free_port().map_err(failed)?,
        );
        // What a power cut left of a log that was never synced may be no log any more.
        match std::fs::remove_dir_all(place.folder.join(KEPT)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        place.write("rabbitmq.conf", &settings(port, password)).map_err(failed)?;
        place.write("enabled_plugins", "[].\n").map_err(failed)?;
        // Another at each start: the node is alone, so there is none that knows the old one.
        let cookie = random_hex(COOKIE_STRENGTH).map_err(failed)?;
        let cookie = place.write(COOKIE, &cookie).map_err(failed)?;
        std::fs::set_permissions(cookie, Permissions::from_mode(0o400)).map_err(failed)?;
        let launch = |program: PathBuf, arguments: &[&str]| Launch {
            program,
            arguments: arguments.iter().map(Into::into).collect(),
            surroundings: Surroundings::Bare,
            environment: environment(&place.folder, epmd_port, between),
            folder: place.folder.clone(),
            user: place.user.clone(),
            death: Signal::SIGKILL,
            output: Output::File(log.clone()),
        };
        let own = epmd_port.to_string();
        let epmd = launch(epmd, &["-address", "127.0.0.1", "-port", &own]);
        let broker = launch(server, &[]);
        Ok(Self {
            epmd: Supervised::start("epmd", keeper, epmd, STOP_EPMD, None),
            broker: Supervised::start("rabbitmq", keeper, broker, STOP, None),
            port,
            url: format!("amqp://berth:{password}@127.0.0.1:{port}/%2f"),
            log,
        })
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until it answers.
    pub async fn ready(&self) -> Result<(), Failure> {
        let until = clock::monotonic() + START_LIMIT;
        while !address::answers(self.port, GREETING.0, GREETING.1).await {
            super::alive(&self.broker, "RabbitMQ", &self.log)?;
            super::alive(&self.epmd, "epmd", &self.log)?;
            if clock::monotonic() > until {
                return Err(super::not_there("RabbitMQ", "does not answer", &self.log));
            }
            clock::sleep(Duration::from_millis(50)).await;
        }
        self.epmd.settle();
        self.broker.settle();
        Ok(())
    }

    /// Ends it.
    pub async fn stop(self) {
        self.broker.stop().await;
        self.epmd.stop().await;
    }
}

fn settings(port: u16, password: &str) -> String {
    format!(
        "listeners.tcp.1 = 127.0.0.1:{port}\n\
         default_user = berth\n\
         default_pass = {password}\n\
         log.console = true\n\
         log.console.level = warning\n\
         log.file = false\n\
         raft.wal_max_size_bytes = 67108864\n"
    )
}

fn environment(folder: &Path, epmd_port: u16, between: u16) -> Vec<(String, String)> {
    let inside = |name: &str| folder.join(name).to_string_lossy().into_owned();
    [
        ("HOME", folder.to_string_lossy().into_owned()),
        ("RABBITMQ_NODENAME", "berth@localhost".to_owned()),
        ("RABBITMQ_MNESIA_BASE", inside(KEPT)),
        ("RABBITMQ_LOG_BASE", inside("log")),
        ("RABBITMQ_CONFIG_FILE", inside("rabbitmq.conf")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", inside("enabled_plugins")),
        ("RABBITMQ_CONF_ENV_FILE", inside("no-such-file")),
        ("RABBITMQ_PID_FILE", inside("rabbitmq.pid")),
        ("RABBITMQ_DIST_PORT", between.to_string()),
        ("ERL_EPMD_PORT", epmd_port.to_string()),
        ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", ERLANG.to_owned()),
        // Its threads go where a processor is free. Its own default ties each to one, where it waits for whatever else runs there.
        ("RABBITMQ_SCHEDULER_BIND_TYPE", "u".to_owned()),
        // Makes the start script become the Erlang machine instead of watching over it.
        ("RUNNING_UNDER_SYSTEMD", "true".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}
