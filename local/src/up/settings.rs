//! The settings of `berth up`: its own around the person's.
//!
//! Secrets, folders and short times to stop are weaker than a variable of the person's; what was said on the command line, and
//! the private engines' addresses, are stronger. The configuration file stands below both, as everywhere.

use super::arguments::UpArguments;
use super::folder::Folder;
use super::secrets::Secrets;
use crate::failure::Failure;
use runtime::config::{self, Config, ExposeSecret, ServiceRole};
use std::collections::BTreeMap;
use std::path::{PathBuf, absolute};

/// What an executor may be told: nothing of the database and the broker.
const FOR_EXECUTORS: [&str; 5] = [
    "BERTH_EXECUTOR__",
    "BERTH_AUTH__EXECUTOR_SECRET",
    "BERTH_TELEMETRY__",
    "BERTH_FAULTS",
    "BERTH_CONFIG",
];

/// What operators' commands need to be told.
const FOR_OPERATORS: [&str; 4] =
    ["BERTH_CONFIG", "BERTH_DATABASE__", "BERTH_BUS__", "BERTH_AUTH__KEY_HASH_SECRET"];

/// Inside one process no wake-up is lost, and with nothing to do it is to take next to nothing.
const ONE_PROCESS_TICK: &str = "800ms";

/// Settings around those of the environment.
#[derive(Clone)]
pub struct Settings {
    file: Option<PathBuf>,
    weaker: Vec<(String, String)>,
    stronger: Vec<(String, String)>,
}

impl Settings {
    /// What follows from the arguments, the folder and its secrets.
    pub fn new(arguments: &UpArguments, folder: &Folder, secrets: &Secrets) -> Self {
        let executor = folder.file("executor");
        let weaker = [
            ("BERTH_AUTH__KEY_HASH_SECRET", secrets.key_hash.as_str()),
            ("BERTH_AUTH__EXECUTOR_SECRET", &secrets.executor),
            ("BERTH_AUTH__JWT_KEY", &secrets.jwt),
            ("BERTH_DATABASE__SERVICE_PASSWORD", &secrets.service_password),
            ("BERTH_EXECUTOR__DATA_DIR", &executor.to_string_lossy()),
            ("BERTH_RESOURCE_MANAGER__LISTEN", "127.0.0.1:0"),
            ("BERTH_API__SHUTDOWN_GRACE", "2s"),
            ("BERTH_EXECUTOR__DRAIN_GRACE", "2s"),
            ("BERTH_RESOURCE_MANAGER__SHUTDOWN_GRACE", "2s"),
            ("BERTH_TELEMETRY__FORMAT", "text"),
        ];
        let weaker = weaker.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let file = arguments.settings.config.clone();
        let mut settings = Self { file, weaker, stronger: Vec::new() };
        if let Some(listen) = arguments.listen {
            settings.set("BERTH_API__LISTEN", listen.to_string());
        }
        if let Some(url) = &arguments.database_url {
            settings.set("BERTH_DATABASE__URL", url.expose_secret());
        }
        if let Some(url) = &arguments.redis_url {
            settings.set_redis(url.expose_secret());
        }
        match &arguments.amqp_url {
            Some(url) => settings.set_broker(url.expose_secret()),
            None => settings.set("BERTH_BUS__KIND", "in_process"),
        }
        if arguments.amqp_url.is_none() {
            let (name, value) = match arguments.full {
                // Our own broker has one node.
                true => ("BERTH_BUS__QUEUE_TYPE", "classic"),
                false => ("BERTH_SCHEDULER__TICK_MAX", ONE_PROCESS_TICK),
            };
            settings.weaker.push((name.to_owned(), value.to_owned()));
        }
        settings
    }

    /// Sets what no variable wins over.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.stronger.push((name.to_owned(), value.into()));
    }

    /// Hints go over this broker.
    pub fn set_broker(&mut self, url: &str) {
        self.set("BERTH_BUS__KIND", "rabbitmq");
        self.set("BERTH_BUS__URL", url);
    }

    /// Limits are counted in this Redis.
    pub fn set_redis(&mut self, url: &str) {
        self.set("BERTH_REDIS__URL", url);
    }

    /// All settings, checked.
    pub fn load(&self) -> Result<Config, Failure> {
        Ok(config::load_around(self.file.as_deref(), &self.weaker, &self.stronger)?)
    }

    /// What a role that is a process of its own is told in its environment, in the place of our variables: of the database its own
    /// logins, and not the owner's.
    pub fn of_role(&self, role: &str) -> Result<Vec<(String, String)>, Failure> {
        let mut all = self.of_all()?;
        all.retain(|name, _| {
            let environment =
                role != "executor" || FOR_EXECUTORS.iter().any(|n| name.starts_with(n));
            environment && !is_login(name)
        });
        let database = self.load()?.database;
        for (name, login) in logins_of(role) {
            let url = database.service_url(*login)?;
            all.insert((*name).to_owned(), url.expose_secret().to_owned());
        }
        Ok(all.into_iter().collect())
    }

    /// All settings, in the place of our variables.
    fn of_all(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut all: BTreeMap<String, String> = self.weaker.iter().cloned().collect();
        all.extend(config::variables()?);
        all.extend(self.stronger.iter().cloned());
        if let Some(file) = &self.file {
            all.insert("BERTH_CONFIG".to_owned(), file.to_string_lossy().into_owned());
        }
        let not_ours = ["BERTH_API_KEY", "BERTH_OPERATOR_KEY", "BERTH_SERVER", "BERTH_READY_FILE"];
        all.retain(|name, _| !not_ours.contains(&name.as_str()));
        Ok(all)
    }

    /// What `berth doctor`, `berth admin audit verify` and `berth migrate` are told in another terminal.
    pub fn of_operators(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut all: Vec<_> = self.of_all()?.into_iter().collect();
        all.retain(|(name, _)| FOR_OPERATORS.iter().any(|n| name.starts_with(n)));
        // That terminal may stand in another folder.
        for (_, file) in all.iter_mut().filter(|(name, _)| name == "BERTH_CONFIG") {
            if let Ok(whole) = absolute(&*file) {
                *file = whole.to_string_lossy().into_owned();
            }
        }
        Ok(all)
    }
}

/// Whether the setting says how somebody logs in to the database.
fn is_login(name: &str) -> bool {
    name.strip_prefix("BERTH_DATABASE__")
        .is_some_and(|name| name == "URL" || name == "SERVICE_PASSWORD" || name.ends_with("_URL"))
}

/// As whom a role logs in, and where it is told how.
const fn logins_of(role: &str) -> &'static [(&'static str, ServiceRole)] {
    match role.as_bytes() {
        b"api" => &[
            ("BERTH_DATABASE__API_URL", ServiceRole::Api),
            ("BERTH_DATABASE__SUBMIT_URL", ServiceRole::Submit),
            ("BERTH_DATABASE__ADMIN_URL", ServiceRole::Admin),
        ],
        b"scheduler" => &[("BERTH_DATABASE__SCHEDULER_URL", ServiceRole::Scheduler)],
        b"notifier" => &[("BERTH_DATABASE__NOTIFIER_URL", ServiceRole::Notifier)],
        b"resource-manager" => &[("BERTH_DATABASE__RM_URL", ServiceRole::ResourceManager)],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        up: UpArguments,
    }

    fn settings(line: &[&str]) -> Settings {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::open(Some(data.path())).unwrap();
        let secrets = Secrets::of(&folder).unwrap();
        let line = ["up"].iter().chain(line);
        Settings::new(&Line::parse_from(line).up, &folder, &secrets)
    }

    #[test]
    fn an_executor_learns_nothing_of_the_database_and_the_broker() {
        let settings = settings(&[
            "--amqp-url",
            "amqp://b:hunter2@h:1/%2f",
            "--redis-url",
            "redis://b:hunter2@h:1/0",
        ]);
        let environment = settings.of_role("executor").unwrap();
        assert!(environment.iter().any(|(name, _)| name == "BERTH_AUTH__EXECUTOR_SECRET"));
        for (name, value) in environment {
            assert!(!name.contains("DATABASE") && !name.contains("KEY_HASH"), "{name}");
            assert!(!value.contains("hunter2"), "{name}");
        }
    }

    #[test]
    fn each_role_is_told_its_own_logins_and_not_the_owners() {
        let settings = settings(&["--full", "--database-url", "postgres://o:hunter2@h/d"]);
        for (role, logins) in [
            ("api", vec!["berth_admin", "berth_api", "berth_submit"]),
            ("scheduler", vec!["berth_scheduler"]),
            ("resource-manager", vec!["berth_rm"]),
            ("notifier", vec!["berth_notifier"]),
            ("executor", vec![]),
        ] {
            let environment = settings.of_role(role).unwrap();
            let database =
                environment.iter().filter(|(name, _)| name.starts_with("BERTH_DATABASE__"));
            let users = database.map(|(_, url)| url.split([':', '/']).nth(3).unwrap());
            assert_eq!(users.collect::<Vec<_>>(), logins, "{role}");
            assert!(environment.iter().all(|(_, value)| !value.contains("hunter2")), "{role}");
        }
    }

    #[test]
    fn operators_learn_the_database_the_broker_and_the_secret_of_keys() {
        let environment = settings(&["--amqp-url", "amqp://b:p@h:1/%2f", "--config", "mine.toml"]);
        let environment = environment.of_operators().unwrap();
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["BERTH_DATABASE__SERVICE_PASSWORD", "BERTH_BUS__URL", "BERTH_BUS__KIND"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(names.contains(&"BERTH_AUTH__KEY_HASH_SECRET"), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("JWT") || name.contains("EXECUTOR")));
        let file = environment.iter().find(|(name, _)| name == "BERTH_CONFIG").unwrap();
        assert!(file.1.starts_with('/') && file.1.ends_with("/mine.toml"), "{file:?}");
    }

    #[test]
    fn what_was_said_on_the_command_line_is_in_force() {
        let config = settings(&["--listen", "127.0.0.1:0", "--database-url", "postgres://o@h/d"])
            .load()
            .unwrap();
        assert_eq!(config.api.listen.port(), 0);
        assert_eq!(config.database.url.expose_secret(), "postgres://o@h/d");
        assert_eq!(config.bus.kind, config::BusKind::InProcess);
        assert!(!config.redis.is_used());
        assert_eq!(config.scheduler.tick_max.as_millis(), 800);
        let own = settings(&["--full", "--database-url", "postgres://o@h/d"]).load().unwrap();
        assert_eq!(own.scheduler.tick_max.as_millis(), 200);
        assert_eq!(own.bus.queue_type, config::QueueType::Classic);
        let given = settings(&["--full", "--amqp-url", "amqp://b:p@h:1/%2f"]).load().unwrap();
        assert_eq!(given.bus.queue_type, config::QueueType::Quorum);
        let shared = settings(&["--redis-url", "redis://h:1/0"]).load().unwrap();
        assert_eq!(shared.redis.url.expose_secret(), "redis://h:1/0");
        assert!(config.auth.executor_secret().is_ok() && config.auth.key_hash_secret().is_ok());
    }
}
