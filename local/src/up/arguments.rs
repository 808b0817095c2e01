//! What can be said to `berth up`.

use crate::settings_arguments::SettingsArguments;
use runtime::config::SecretString;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  berth up                                  a private Postgres, all roles in one process, a first key
  berth up --data-dir ./data --listen 127.0.0.1:0 --output json
                                            for programs: prints one JSON line when ready
  berth up --full --executor 2              one process per role, with RabbitMQ
  berth up --database-url postgres://owner:password@db:5432/berth

The data folder holds the database, the secrets, the first key and the logs. Ctrl-C or SIGTERM stops everything; the next
`berth up` continues with the data. Variables such as BERTH_EXECUTOR__CPU_MILLIS set the keys of config/default.toml.";

/// Most processes of one role.
const MOST: i64 = 32;

/// How to bring up a whole Berth.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct UpArguments {
    /// Data folder; created if missing. Default: ~/.local/share/berth, or /var/lib/berth/up for root.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the API, IP:port; port 0: any free port. Default: 127.0.0.1:8080, or the next free port.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Use an existing Postgres: URL of the owner.
    #[arg(long, value_name = "URL", value_parser = secret, env = "BERTH_DATABASE__URL", hide_env_values = true)]
    pub database_url: Option<SecretString>,
    /// Use an existing RabbitMQ.
    #[arg(long, value_name = "URL", value_parser = secret, env = "BERTH_BUS__URL", hide_env_values = true)]
    pub amqp_url: Option<SecretString>,
    /// Use an existing Redis.
    #[arg(long, value_name = "URL", value_parser = secret)]
    pub redis_url: Option<SecretString>,
    /// Run each role in its own process.
    #[arg(long)]
    pub full: bool,
    /// With --full: api processes. The first has the address, the others any free port.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub api: u16,
    /// With --full: schedulers. One is active, the others stand by.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub scheduler: u16,
    /// With --full: resource managers.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub resource_manager: u16,
    /// With --full: notifiers.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub notifier: u16,
    /// With --full: executors. They share the machine evenly.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub executor: u16,
    /// Do not submit demo tasks.
    #[arg(long)]
    pub no_demo: bool,
    /// Log to standard error. Default: a file in the data folder.
    #[arg(long)]
    pub log: bool,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

fn count() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=MOST)
}

fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text.to_owned()))
}
