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
                                            for programs: prints one line once all is ready
  berth up --full --executor 2              each role a process of its own, with RabbitMQ between them
  berth up --database-url postgres://owner:password@db:5432/berth

In the data folder are the database, the secrets, the first key and the logs. Ctrl-C or SIGTERM stops everything; the next
`berth up` goes on with the data. Variables such as BERTH_EXECUTOR__CPU_MILLIS set what config/default.toml lists.";

/// Most processes of one role.
const MOST: i64 = 32;

/// How to bring up a whole Berth.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct UpArguments {
    /// Folder for all data; made where there is none. By default ~/.local/share/berth, or /var/lib/berth/up for root.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the API, IP:port; port 0 takes a free one. By default 127.0.0.1:8080, or the next port that is free.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Use a Postgres that runs already, by its owner's URL.
    #[arg(long, value_name = "URL", value_parser = secret, env = "BERTH_DATABASE__URL", hide_env_values = true)]
    pub database_url: Option<SecretString>,
    /// Use a RabbitMQ that runs already.
    #[arg(long, value_name = "URL", value_parser = secret, env = "BERTH_BUS__URL", hide_env_values = true)]
    pub amqp_url: Option<SecretString>,
    /// Use a Redis that runs already.
    #[arg(long, value_name = "URL", value_parser = secret)]
    pub redis_url: Option<SecretString>,
    /// Each role in processes of its own.
    #[arg(long)]
    pub full: bool,
    /// With --full: processes of the API. The first has the address, others take free ports.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub api: u16,
    /// With --full: schedulers. One is active, others stand by.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub scheduler: u16,
    /// With --full: resource managers.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub resource_manager: u16,
    /// With --full: executors. They share this machine's cores, memory and ports evenly.
    #[arg(long, value_name = "N", requires = "full", default_value_t = 1, value_parser = count())]
    pub executor: u16,
    /// Submit no tasks to show how it works.
    #[arg(long)]
    pub no_demo: bool,
    /// Write the log to standard error. Otherwise it goes to a file in the data folder.
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
