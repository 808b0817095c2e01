//! Starts the roles, kills them, and starts them again under the same addresses.

use anyhow::Context;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use testkit::db::{SERVICE_PASSWORD, TestDatabase};
use testkit::process::{RoleCommand, RoleProcess};
use testkit::services::TestBroker;
use tokio::sync::OnceCell;

/// What the keys of every cluster are hashed under.
pub const KEY_HASH_SECRET: &str = "end-to-end key hash secret, thirty-two bytes and more";

/// What the executors of every cluster show.
pub const EXECUTOR_SECRET: &str = "end-to-end executor secret, thirty-two bytes and more";

/// Which role a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `berth api`
    Api,
    /// `berth scheduler`
    Scheduler,
    /// `berth resource-manager`
    ResourceManager,
    /// `berth notifier`
    Notifier,
    /// `berth executor`
    Executor,
}

impl Role {
    /// Every role that tasks need. A cluster has notifiers where it is asked for some.
    pub const ALL: [Self; 4] = [Self::Api, Self::Scheduler, Self::ResourceManager, Self::Executor];

    /// The `berth` command that starts it; its processes are called this and a number.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Scheduler => "scheduler",
            Self::ResourceManager => "resource-manager",
            Self::Notifier => "notifier",
            Self::Executor => "executor",
        }
    }
}

/// How many of each, and what they are told.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Processes of each role.
    pub counts: BTreeMap<Role, usize>,
    /// Settings for every process, over the defaults of [`Shape::default`].
    pub settings: BTreeMap<String, String>,
    /// Settings for the processes of one role, over those for every process.
    pub own: BTreeMap<Role, BTreeMap<String, String>>,
    /// Settings for the commands of operators, over the cluster's.
    pub operators: BTreeMap<String, String>,
    /// The folder of the programs; none: those of this build.
    pub programs: Option<PathBuf>,
}

impl Default for Shape {
    /// Two of each and three executors, with a lease of 5 s and room for 64 basic tasks an executor.
    fn default() -> Self {
        let counts =
            [(Role::Api, 2), (Role::Scheduler, 2), (Role::ResourceManager, 2), (Role::Executor, 3)];
        let settings = [
            ("BERTH_RESOURCE_MANAGER__LEASE_TERM", "5s"),
            ("BERTH_RESOURCE_MANAGER__KILL_GRACE", "1s"),
            // Commands write into the ledger, a file of this machine, which isolated ones do not see.
            ("BERTH_EXECUTOR__ISOLATION", "none"),
            ("BERTH_EXECUTOR__CPU_MILLIS", "16000"),
            ("BERTH_EXECUTOR__MEMORY_MIB", "32768"),
            ("BERTH_EXECUTOR__DISK_MIB", "102400"),
            ("BERTH_EXECUTOR__IOPS", "6000"),
            ("BERTH_EXECUTOR__PORT_COUNT", "64"),
            ("BERTH_TELEMETRY__FORMAT", "text"),
        ];
        let settings = settings.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Self {
            counts: counts.into_iter().collect(),
            settings,
            own: BTreeMap::new(),
            operators: BTreeMap::new(),
            programs: None,
        }
    }
}

impl Shape {
    /// Another number of processes of a role.
    #[must_use]
    pub fn with(mut self, role: Role, count: usize) -> Self {
        self.counts.insert(role, count);
        self
    }

    /// A setting for every process.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.settings.insert(name.to_owned(), value.into());
        self
    }
}

impl Shape {
    /// A setting for the processes of one role.
    #[must_use]
    pub fn set_for(mut self, role: Role, name: &str, value: impl Into<String>) -> Self {
        self.own.entry(role).or_default().insert(name.to_owned(), value.into());
        self
    }

    /// The programs of this folder.
    #[must_use]
    pub fn of_programs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.programs = Some(folder.into());
        self
    }

    fn program(&self) -> anyhow::Result<PathBuf> {
        match &self.programs {
            Some(folder) => Ok(folder.join("berth")),
            None => testkit::program::find("cli", "berth"),
        }
    }

    /// A setting for the commands of operators.
    #[must_use]
    pub fn set_for_operators(mut self, name: &str, value: impl Into<String>) -> Self {
        self.operators.insert(name.to_owned(), value.into());
        self
    }
}

struct Member {
    role: Role,
    command: RoleCommand,
    process: Option<RoleProcess>,
}

/// A running Berth.
pub struct Cluster {
    members: Vec<Member>,
    api_urls: Vec<String>,
    broker: TestBroker,
    database: TestDatabase,
    shape: Shape,
    managers: String,
    folder: tempfile::TempDir,
    operator_key: OnceCell<String>,
}

impl Cluster {
    /// Starts everything, on a database and queues of its own, and waits until all are ready.
    pub async fn start(shape: Shape) -> anyhow::Result<Self> {
        Self::on(shape, TestDatabase::new().await?, TestBroker::new().await?, None).await
    }

    /// The same on given engines; `amqp_url` stands in for the broker's own, for example a proxy's.
    pub async fn on(
        shape: Shape,
        database: TestDatabase,
        broker: TestBroker,
        amqp_url: Option<String>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("berth-e2e-").tempdir()?;
        // Tasks run as an unprivileged user and must reach the ledger in here.
        std::fs::set_permissions(
            folder.path(),
            std::os::unix::fs::PermissionsExt::from_mode(0o777),
        )?;
        let mut cluster = Self {
            members: Vec::new(),
            api_urls: Vec::new(),
            broker,
            database,
            shape,
            managers: String::new(),
            folder,
            operator_key: OnceCell::new(),
        };
        if let Some(url) = amqp_url {
            cluster.shape = cluster.shape.set("BERTH_BUS__URL", url);
        }
        let managers = cluster.count(Role::ResourceManager);
        let manager_ports =
            (0..managers).map(|_| free_port()).collect::<anyhow::Result<Vec<u16>>>()?;
        cluster.managers = manager_ports
            .iter()
            .map(|port| format!("http://127.0.0.1:{port}"))
            .collect::<Vec<_>>()
            .join(",");
        for (role, count) in cluster.shape.counts.clone() {
            for number in 0..count {
                let port = match role {
                    Role::ResourceManager => manager_ports.get(number).copied().unwrap_or(0),
                    Role::Api => free_port()?,
                    Role::Scheduler | Role::Notifier | Role::Executor => 0,
                };
                cluster.add(role, number, port)?;
            }
        }
        for at in 0..cluster.members.len() {
            cluster.launch(at)?;
        }
        for at in 0..cluster.members.len() {
            cluster.ready(at).await?;
        }
        Ok(cluster)
    }

    fn count(&self, role: Role) -> usize {
        self.shape.counts.get(&role).copied().unwrap_or(0)
    }

    fn add(&mut self, role: Role, number: usize, port: u16) -> anyhow::Result<()> {
        let name = format!("{}-{number}", role.command());
        let program = self.shape.program()?;
        let mut command = RoleCommand::of_program(program, &name, self.folder.path())
            .arg(role.command())
            .env("BERTH_DATABASE__URL", self.database.owner_url())
            .env("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD)
            .env("BERTH_BUS__URL", self.broker.url())
            .env("BERTH_BUS__QUEUE_PREFIX", self.broker.queue_prefix())
            .env("BERTH_AUTH__KEY_HASH_SECRET", KEY_HASH_SECRET)
            .env("BERTH_AUTH__EXECUTOR_SECRET", EXECUTOR_SECRET);
        command = match role {
            Role::Api => {
                self.api_urls.push(format!("http://127.0.0.1:{port}"));
                command
                    .env("BERTH_API__LISTEN", format!("127.0.0.1:{port}"))
                    .env("BERTH_API__METRICS_LISTEN", "127.0.0.1:0")
            }
            Role::Scheduler => command.env("BERTH_SCHEDULER__LISTEN", "127.0.0.1:0"),
            Role::ResourceManager => {
                command.env("BERTH_RESOURCE_MANAGER__LISTEN", format!("127.0.0.1:{port}"))
            }
            Role::Notifier => command.env("BERTH_NOTIFIER__LISTEN", "127.0.0.1:0"),
            Role::Executor => command
                .env("BERTH_EXECUTOR__ID", &name)
                .env("BERTH_EXECUTOR__RESOURCE_MANAGERS", &self.managers)
                .env("BERTH_EXECUTOR__PORT_FIRST", (20_000 + number * 5000).to_string())
                .env("BERTH_EXECUTOR__DATA_DIR", self.folder.path().join(&name).to_string_lossy()),
        };
        let own = self.shape.own.get(&role).into_iter().flatten();
        for (setting, value) in self.shape.settings.iter().chain(own) {
            command = command.env(setting, value);
        }
        self.members.push(Member { role, command, process: None });
        Ok(())
    }

    /// Adds one more process of a role and waits until it is ready; answers its place.
    pub async fn join(&mut self, role: Role) -> anyhow::Result<usize> {
        let number = self.of(role).len();
        let port = if role == Role::Api { free_port()? } else { 0 };
        self.add(role, number, port)?;
        let at = self.members.len() - 1;
        self.launch(at)?;
        self.ready(at).await?;
        Ok(at)
    }

    /// Other programs, for commands and for processes from their next start on.
    pub fn use_programs(&mut self, folder: Option<PathBuf>) -> anyhow::Result<()> {
        self.shape.programs = folder;
        let program = self.shape.program()?;
        for member in &mut self.members {
            member.command = member.command.clone().program(program.clone());
        }
        Ok(())
    }

    /// A setting for processes that join from now on.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.shape.settings.insert(name.to_owned(), value.into());
    }

    /// A setting for one process, from its next start on.
    pub fn set_of(&mut self, at: usize, name: &str, value: impl Into<String>) {
        let member = &mut self.members[at];
        member.command = member.command.clone().env(name, value);
    }

    /// The places of all processes of a role.
    pub fn of(&self, role: Role) -> Vec<usize> {
        (0..self.members.len()).filter(|at| self.members[*at].role == role).collect()
    }

    /// Starts a process again after it ended.
    pub fn launch(&mut self, at: usize) -> anyhow::Result<()> {
        self.launch_with(at, &[])
    }

    /// The same with more in its environment, this time.
    pub fn launch_with(&mut self, at: usize, environment: &[(&str, String)]) -> anyhow::Result<()> {
        let member = &mut self.members[at];
        let command = member.command.clone();
        let command =
            environment.iter().fold(command, |command, (name, value)| command.env(*name, value));
        member.process = Some(command.start()?);
        Ok(())
    }

    /// Waits until a process is ready.
    pub async fn ready(&mut self, at: usize) -> anyhow::Result<()> {
        self.process(at)?.ready(Duration::from_secs(30)).await.map(|_| ())
    }

    /// Kills a process without warning.
    pub fn kill9(&mut self, at: usize) -> anyhow::Result<()> {
        self.process(at)?.kill9()
    }

    /// A process, to freeze it, end it or read its log.
    pub fn process(&mut self, at: usize) -> anyhow::Result<&mut RoleProcess> {
        self.members[at].process.as_mut().context("the process was never started")
    }

    /// The names of processes that have panicked at any time, restarts included.
    pub fn panicked(&self) -> Vec<String> {
        let logs = self.members.iter().filter_map(|member| member.process.as_ref());
        logs.filter(|process| process.log().contains("panicked"))
            .map(|p| p.log_file().display().to_string())
            .collect()
    }

    /// Base URLs of the api processes.
    pub fn api_urls(&self) -> &[String] {
        &self.api_urls
    }

    /// Where executors connect, separated by commas.
    pub fn manager_urls(&self) -> &str {
        &self.managers
    }

    /// The database.
    pub fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// The broker.
    pub fn broker(&self) -> &TestBroker {
        &self.broker
    }

    /// A folder that tasks may write to.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Leaves that folder, and with it the logs of all processes, for whoever looks for what went wrong.
    pub fn keep_folder(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder()
    }

    /// The key of this cluster's operator, made on the database when it is first asked for.
    pub async fn operator_key(&self) -> anyhow::Result<&str> {
        let make = async || {
            // Of several clusters that use one database, each has its own.
            let name = self.folder.path().to_string_lossy();
            let create = ["admin", "operator-key", "create", "--first", "--name", &name];
            let scopes = ["--scope", "read", "--scope", "admin"];
            let made = self.run(&[&create[..], &scopes].concat(), &self.on_database()).await?;
            anyhow::Ok(made.trim().to_owned())
        };
        self.operator_key.get_or_try_init(make).await.map(String::as_str)
    }

    /// Runs a `berth` command to its end, with the settings of this cluster, and gives its standard output. Operators' commands have
    /// a key and no database, but for those that are about it: the audit's check and the first key.
    pub async fn berth(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let on_database = arguments.first() != Some(&"admin")
            || arguments.starts_with(&["admin", "audit"])
            || arguments.contains(&"--first");
        if on_database {
            return self.run(arguments, &self.on_database()).await;
        }
        let server = self.api_urls.first().context("a cluster with an API")?;
        let own = &self.shape.operators;
        // With a CA to trust the api has a certificate of it.
        let secure = own.contains_key("SSL_CERT_FILE");
        let server = match secure {
            true => server.replace("http://127.0.0.1", "https://localhost"),
            false => server.clone(),
        };
        let mut environment = vec![
            ("BERTH_SERVER", server.as_str()),
            ("BERTH_OPERATOR_KEY", self.operator_key().await?),
            ("BERTH_DATABASE__URL", "nowhere"),
        ];
        environment.extend(own.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        self.run(arguments, &environment).await
    }

    fn on_database(&self) -> Vec<(&str, &str)> {
        let mut all = vec![
            ("BERTH_DATABASE__URL", self.database.owner_url()),
            ("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD),
            ("BERTH_AUTH__KEY_HASH_SECRET", KEY_HASH_SECRET),
        ];
        let own = self.shape.operators.iter();
        all.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
        all
    }

    async fn run(
        &self,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> anyhow::Result<String> {
        let output = tokio::process::Command::new(self.shape.program()?)
            .args(arguments)
            .envs(environment.iter().copied())
            .output()
            .await?;
        anyhow::ensure!(
            output.status.success(),
            "berth {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// A port that is free now and stays so: a process that is started again needs the same one, so it is none of those that the
/// system gives to whoever asks for any, nor one of the tasks' own.
fn free_port() -> anyhow::Result<u16> {
    const FIRST: u16 = 10_000;
    const COUNT: u16 = 5_000;
    // Clusters of other processes choose at the same time: even with the next process id one begins far away.
    static NEXT: LazyLock<AtomicU16> = LazyLock::new(|| {
        AtomicU16::new((u64::from(std::process::id()) * 997 % u64::from(COUNT)) as u16)
    });
    for _ in 0..COUNT {
        let port = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port of {FIRST} to {} is free", FIRST + COUNT)
}
