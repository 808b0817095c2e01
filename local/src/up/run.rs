//! `berth up` from beginning to end: what is started in which order, and what is ended in the reverse one.
//!
//! The rule: whatever has been started is ended, also when the next thing cannot be started.

use super::announce::Announcement;
use super::arguments::UpArguments;
use super::child::{Keeper, MergedLog};
use super::engine::{Places, Postgres, RabbitMq, Redis};
use super::folder::Folder;
use super::listen::{self, Choice};
use super::roles::{Counts, Embedded, Full, Plan};
use super::secrets::Secrets;
use super::settings::Settings;
use super::{demo, operator, tenant};
use crate::database;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format};
use client::Client;
use identity::key::KeyHasher;
use runtime::clock;
use runtime::config::Config;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use runtime::telemetry;
use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;
use store::StoreError;
use store::connect::{
    COUNT_CONNECTIONS, NOTIFIER_CONNECTIONS, SIGN_IN_CONNECTIONS, WRITER_CONNECTIONS,
};
use store::migrate::{How, Migrated};

/// A database that recovers from a crash takes its time.
const DATABASE_LIMIT: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What is known before anything is started.
struct Up<'a> {
    arguments: &'a UpArguments,
    format: Format,
    folder: Folder,
    secrets: Secrets,
    settings: Settings,
    keeper: Keeper,
    /// With `--full`.
    log: Option<MergedLog>,
    shutdown: Shutdown,
}

/// What is running.
#[derive(Default)]
struct Running {
    postgres: Option<Postgres>,
    rabbitmq: Option<RabbitMq>,
    redis: Option<Redis>,
    embedded: Option<Embedded>,
    full: Option<Full>,
}

/// Brings everything up, and stays until it is told to stop.
pub async fn run(arguments: &UpArguments, format: Format) -> Result<(), Failure> {
    let mut up = Up::prepare(arguments, format)?;
    let mut running = Running::default();
    let stayed = Box::pin(up.stay(&mut running)).await;
    if format == Format::Table && up.shutdown.is_cancelled() {
        output::remark("\nStopping (ctrl-C again: immediately) ...");
    }
    running.stop().await;
    tracing::info!("Stopped");
    match stayed {
        // Ctrl-C in the middle of the show.
        Err(_) if up.shutdown.is_cancelled() => Ok(()),
        stayed => stayed,
    }
}

impl<'a> Up<'a> {
    fn prepare(arguments: &'a UpArguments, format: Format) -> Result<Self, Failure> {
        let folder = Folder::open(arguments.data_dir.as_deref())?;
        let secrets = Secrets::of(&folder)?;
        let settings = Settings::new(arguments, &folder, &secrets);
        let config = settings.load()?;
        let file = folder.open_log("berth")?;
        if arguments.log && !arguments.full {
            telemetry::init("up", &config.telemetry)
        } else {
            telemetry::init_in("up", &config.telemetry, file)
        }
        .map_err(|error| Failure::caused(Exit::Usage, &error))?;
        let log = if arguments.full {
            let log = MergedLog::new(folder.open_log("berth")?, config.telemetry.log_queue_bytes);
            if arguments.log {
                log.show();
            }
            Some(log)
        } else {
            None
        };
        let (_handle, shutdown) = Shutdown::from_signals(&TaskGroup::new())
            .map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
        let keeper = Keeper::start()
            .map_err(|error| Failure::failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { arguments, format, folder, secrets, settings, keeper, log, shutdown })
    }

    async fn stay(&mut self, running: &mut Running) -> Result<(), Failure> {
        let shutdown = self.shutdown.clone();
        let said = tokio::select! {
            biased;
            () = shutdown.cancelled() => return Ok(()),
            said = self.begin(running) => said?,
        };
        let mut operators = self.settings.of_operators()?;
        operators.push(("BERTH_SERVER".to_owned(), said.url.clone()));
        let key = self.secrets.operator_key.clone();
        operators.extend(key.map(|key| ("BERTH_OPERATOR_KEY".to_owned(), key)));
        let environment = said.write_environment(&self.folder, &operators)?;
        if self.format == Format::Json {
            said.for_programs()?;
        } else {
            said.in_file()?;
            if !self.arguments.no_demo {
                tokio::select! {
                    biased;
                    () = shutdown.cancelled() => return Ok(()),
                    shown = self.show(&said) => shown?,
                }
            }
            let said = self.with_sign_in(said)?;
            said.for_people(&self.folder, &environment)?;
            self.log.iter().for_each(MergedLog::show);
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled() => Ok(()),
            failure = running.broken() => Err(failure),
        }
    }

    /// Starts everything, and waits until all of it is ready.
    async fn begin(&mut self, running: &mut Running) -> Result<Announcement, Failure> {
        let mut config = self.settings.load()?;
        let choice = listen::choice_of(&config, self.arguments.listen);
        // Before anything is started: a wrong address should be told at once.
        let address = listen::settle(config.api.listen, choice)?;
        self.say("Starting ...");
        self.engines(running, &config).await?;
        self.settings.set("BERTH_API__LISTEN", address.to_string());
        config = self.settings.load()?;
        migrate(&config, running.postgres.as_ref()).await?;
        let own = running.postgres.is_some();
        let key = tenant::ensure(&config, &self.folder, &mut self.secrets, own).await?;
        operator::ensure(&config, &self.folder, &mut self.secrets).await?;
        let listen = self.roles(running, config, choice).await?;
        let profile = if self.arguments.full { "full" } else { "embedded" };
        tracing::info!(%listen, "Berth is up on {listen}");
        // Executors of their own say it in the merged log.
        let isolation = running.embedded.as_ref().and_then(Embedded::isolation);
        Ok(Announcement::new(listen, key, profile)
            .with_isolation(isolation.map(ToString::to_string)))
    }

    /// Starts the private engines that are wanted, and makes the settings name them.
    async fn engines(&mut self, running: &mut Running, config: &Config) -> Result<(), Failure> {
        let (arguments, keeper) = (self.arguments, &self.keeper);
        // `Places` remembers where engines live in this file.
        let is_new = !self.folder.file("engines").exists();
        let places = Places::of(&self.folder, &config.executor.run_as_user)?;
        let password = &self.secrets.engine_password;
        let log = |engine: &str| self.folder.log(engine);
        let broker = arguments.full && arguments.amqp_url.is_none();
        if broker {
            // It takes seconds to start and the others do not: they start in its shadow.
            let rabbitmq = RabbitMq::start(&places, keeper, log("rabbitmq"), password).await?;
            self.settings.set_broker(rabbitmq.url());
            running.rabbitmq = Some(rabbitmq);
        }
        if arguments.full && arguments.redis_url.is_none() {
            running.redis = Redis::start(&places, keeper, log("redis"), password).await?;
            if let Some(redis) = &running.redis {
                self.settings.set_redis(redis.url());
            }
        }
        if arguments.database_url.is_none() {
            if is_new {
                self.say("Creating a database (first start only) ...");
            }
            let with = (password.as_str(), connections(config, self.counts()));
            let postgres = Postgres::start(&places, keeper, log("postgres"), with).await?;
            self.settings.set("BERTH_DATABASE__URL", postgres.url());
            running.postgres = Some(postgres);
        }
        Ok(())
    }

    async fn roles(
        &self,
        running: &mut Running,
        config: Config,
        choice: Choice,
    ) -> Result<SocketAddr, Failure> {
        if let Some(rabbitmq) = &running.rabbitmq {
            rabbitmq.ready().await?;
        }
        if let Some(redis) = &running.redis {
            redis.ready().await?;
        }
        if let Some(log) = &self.log {
            let plan = Plan::new(&self.settings, &config, &self.folder, (&self.keeper, log))?;
            let full = running.full.insert(Full::start(&plan, self.counts())?);
            full.ready().await.map_err(|failure| {
                failure.adding(&format!(". See {}", self.folder.log("berth").display()))
            })?;
            full.listens().first().copied().ok_or_else(|| Failure::failed("no API was started"))
        } else {
            let embedded = running.embedded.insert(Embedded::default());
            embedded.start(config, choice).await?;
            embedded.ready().await?;
            embedded.listen().ok_or_else(|| Failure::failed("no API was started"))
        }
    }

    fn counts(&self) -> Counts {
        let UpArguments { api, scheduler, resource_manager, notifier, executor, .. } =
            *self.arguments;
        Counts { api, scheduler, resource_manager, notifier, executor }
    }

    /// With links for a browser. The API runs already, so that it takes them.
    fn with_sign_in(&self, said: Announcement) -> Result<Announcement, Failure> {
        let config = self.settings.load()?;
        let hasher = KeyHasher::new(config.auth.key_hash_secret()?)
            .map_err(|error| Failure::failed(format!("a key {error}")))?;
        let customer = api::sign_in_path(&hasher, &said.api_key);
        let operator = self.secrets.operator_key.as_deref();
        let operator = operator.and_then(|key| api::sign_in_path(&hasher, key));
        Ok(said.with_sign_in(customer, operator))
    }

    async fn show(&self, said: &Announcement) -> Result<(), Failure> {
        let client = Client::builder(said.url.as_str())
            .api_key(said.api_key.as_str())
            .build()
            .map_err(|error| Failure::caused(Exit::Failed, &error))?;
        demo::show(&client, &said.url).await
    }

    fn say(&self, text: &str) {
        if self.format == Format::Table {
            output::remark(text);
        }
    }
}

impl Running {
    /// Waits for something that ends before its time and is not started again.
    async fn broken(&mut self) -> Failure {
        match &mut self.embedded {
            Some(embedded) => embedded.broken().await,
            None => pending().await,
        }
    }

    async fn stop(self) {
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
        if let Some(full) = self.full {
            full.stop().await;
        }
        if let Some(rabbitmq) = self.rabbitmq {
            rabbitmq.stop().await;
        }
        if let Some(redis) = self.redis {
            redis.stop().await;
        }
        if let Some(postgres) = self.postgres {
            postgres.stop().await;
        }
    }
}

/// Brings the database to this version; waits for a private one that is still starting.
async fn migrate(config: &Config, postgres: Option<&Postgres>) -> Result<(), Failure> {
    let until = clock::monotonic() + DATABASE_LIMIT;
    loop {
        match store::migrate::run(&config.database, How::default()).await {
            Ok(migrated) => {
                tell(&migrated);
                break;
            }
            Err(StoreError::Unavailable(error)) => {
                let Some(postgres) = postgres else {
                    return Err(database::migration_failure(&StoreError::Unavailable(error)));
                };
                postgres.alive()?;
                if clock::monotonic() > until {
                    return Err(postgres.silent());
                }
                clock::sleep(LOOK_EVERY).await;
            }
            Err(error) => return Err(database::migration_failure(&error)),
        }
    }
    if let Some(postgres) = postgres {
        postgres.server().settle();
    }
    Ok(())
}

fn tell(migrated: &Migrated) {
    migrated.notes.iter().for_each(|note| output::remark(&format!("Note: {note}.")));
    if let Some(because) = &migrated.held {
        output::remark(&format!(
            "No schedule fires: {because}. See `berth admin resume-after-restore`."
        ));
    }
}

/// Connections that all processes may make, and a few for whoever looks.
fn connections(config: &Config, counts: Counts) -> u32 {
    let database = &config.database;
    let writers = u32::try_from(config.api.submit_writers).unwrap_or(u32::MAX);
    // An api has more for its writers, for signing in and for counts, a scheduler for its marks, its row, fires and the doctor.
    let of_api = database.api_connections
        + database.submit_connections
        + writers.saturating_mul(WRITER_CONNECTIONS)
        + database.admin_connections
        + SIGN_IN_CONNECTIONS
        + COUNT_CONNECTIONS;
    u32::from(counts.api) * of_api
        + u32::from(counts.scheduler) * (database.scheduler_connections + 8)
        + u32::from(counts.resource_manager) * database.rm_connections
        + u32::from(counts.notifier) * NOTIFIER_CONNECTIONS
        + 20
}
