//! A database, tenants with schedules, and schedulers that fire them.

use bus::Bus;
use domain::audit::By;
use domain::id::{PlanName, TenantId};
use domain::plan::PlanLimits;
use domain::schedule::{Misfire, Overlap, Timing};
use domain::time::Timestamp;
use runtime::clock;
use runtime::config::{Config, load_from};
use runtime::shutdown::{Shutdown, ShutdownHandle};
use runtime::tasks::TaskGroup;
use scheduler::Scheduler;
use std::time::Duration;
use store::TenantScope;
use store::connect::{AdminDb, ApiDb};
use store::schedule::{PutAnswer, PutSchedule, ScheduleRecord, put};
use store::tenant::{NewTenant, TenantChange};
use testkit::db::{SERVICE_PASSWORD, TestDatabase};

pub struct World {
    pub api: ApiDb,
    pub admin: AdminDb,
    pub bus: Bus,
    pub config: Config,
    database: TestDatabase,
    ends: ShutdownHandle,
}

/// A scheduler that runs.
pub struct Running {
    scheduler: Scheduler,
    shutdown: ShutdownHandle,
}

impl Running {
    /// Ends it in order.
    pub async fn stop(self) {
        self.shutdown.shut_down();
        self.scheduler.stopped(Duration::from_secs(10)).await;
    }
}

impl World {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::on(TestDatabase::new().await.unwrap(), settings)
    }

    /// On a database of one's choice.
    pub fn on(database: TestDatabase, settings: &[(&str, &str)]) -> Self {
        let mut environment = vec![
            ("BERTH_DATABASE__URL".to_owned(), database.owner_url().to_owned()),
            ("BERTH_DATABASE__SERVICE_PASSWORD".to_owned(), SERVICE_PASSWORD.to_owned()),
            ("BERTH_BUS__KIND".to_owned(), "in_process".to_owned()),
            ("BERTH_SCHEDULER__LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            (
                "BERTH_AUTH__KEY_HASH_SECRET".to_owned(),
                "key hash secret of thirty-two bytes or more".to_owned(),
            ),
        ];
        environment.extend(settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        let config = load_from(None, environment).unwrap();
        let (ends, until) = Shutdown::new();
        let bus = Bus::connect(&config.bus, &TaskGroup::new(), &until).unwrap();
        Self {
            api: ApiDb::connect(&config.database).unwrap(),
            admin: AdminDb::connect(&config.database).unwrap(),
            bus,
            config,
            database,
            ends,
        }
    }

    /// Starts a scheduler.
    pub async fn scheduler(&self) -> Running {
        let (shutdown, until) = Shutdown::new();
        let bus = self.bus.clone();
        let scheduler = Scheduler::start(&self.config, bus, &until).await.unwrap();
        Running { scheduler, shutdown }
    }

    pub async fn tenant(&self) -> TenantScope {
        let tenant = TenantId::fresh();
        let new = NewTenant { id: tenant, ..NewTenant::named(&tenant.to_string()).unwrap() };
        store::tenant::create(&self.admin, &new, By::SYSTEM).await.unwrap();
        TenantScope::of_role(tenant)
    }

    /// Puts the tenant on a plan of its own.
    pub async fn allow(&self, scope: &TenantScope, limits: &PlanLimits) {
        let plan: PlanName = "own".parse().unwrap();
        store::plan::put(&self.admin, &plan, None, limits, By::SYSTEM).await.unwrap();
        let change = TenantChange { plan: Some(plan), weight: None };
        store::tenant::change(&self.admin, scope.tenant(), &change, By::SYSTEM).await.unwrap();
    }

    /// Stores a schedule and says so, as the api does.
    pub async fn put(&self, scope: &TenantScope, schedule: &PutSchedule) -> ScheduleRecord {
        let answer = put(&self.api, scope, schedule).await.unwrap();
        self.bus.wake(bus::Topic::ShardOwner);
        match answer {
            PutAnswer::Created(record) | PutAnswer::Updated(record) => *record,
            other => panic!("{other:?}"),
        }
    }

    pub async fn sql(&self, sql: &str) -> String {
        self.database.sql(sql).await.unwrap().trim().to_owned()
    }

    pub async fn number(&self, sql: &str) -> i64 {
        self.sql(sql).await.parse().unwrap()
    }

    /// The database's time.
    pub async fn now(&self) -> Timestamp {
        let micros =
            self.number("select (extract(epoch from clock_timestamp()) * 1000000)::bigint").await;
        Timestamp::from_timestamp_micros(micros).unwrap()
    }

    /// Waits until a query says true.
    pub async fn until(&self, what: &str, limit: Duration, sql: &str) {
        let holds = async || self.sql(sql).await == "t";
        testkit::poll::until(what, limit, holds).await.unwrap();
    }

    /// What must hold of the ledger whatever happened, `schedules` being due `every` so often. Says what does not.
    pub async fn faults(&self, every: Duration) -> Vec<String> {
        let every = every.as_secs_f64();
        let early = "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id
            where f.kind = 'scheduled' and f.fired_at < f.due_at";
        let doubled =
            "select count(*) from (select task_id from schedule_fire where task_id is not null
            group by task_id having count(*) > 1) d";
        // From the first to the last, and up to what is due next: each due time has its row.
        let holes = format!(
            "select count(*) from (
                select s.id from schedule s join schedule_fire f on f.schedule_id = s.id and f.kind = 'scheduled'
                group by s.id, s.due_at
                having count(*) <> round(extract(epoch from max(f.due_at) - min(f.due_at)) / {every}) + 1
                    or s.due_at <> max(f.due_at) + interval '{every} seconds') h"
        );
        let lost = "select count(*) from schedule_fire f where f.task_id is not null
            and not exists (select from task t where t.id = f.task_id) and not exists (select from task_history h where h.id = f.task_id)";
        let orphans =
            "select count(*) from (select id from task union all select id from task_history) t
            where not exists (select from schedule_fire f where f.task_id = t.id)";
        let mut faults = Vec::new();
        for (what, sql) in [
            ("fired early", early),
            ("tasks of two due times", doubled),
            ("schedules with due times that have no row", holes.as_str()),
            ("fires whose task is not there", lost),
            ("tasks of no fire", orphans),
        ] {
            let count = self.number(sql).await;
            if count != 0 {
                faults.push(format!("{count} {what}"));
            }
        }
        faults
    }

    /// Share `share` of the time from due to fired, in milliseconds.
    pub async fn lateness_ms(&self, share: f64, of: &str) -> f64 {
        let sql = format!(
            "select coalesce(percentile_disc({share}) within group (order by extract(epoch from fired_at - due_at) * 1000), 0)
                from schedule_fire where kind = 'scheduled' and {of}"
        );
        self.sql(&sql).await.parse().unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.ends.shut_down();
    }
}

pub fn timing(json: &str) -> Timing {
    serde_json::from_str(json).unwrap()
}

/// Due every `every`, counted from a whole second.
pub fn every(every: &str) -> Timing {
    every_from(every, "2026-01-01T00:00:00Z")
}

/// Due every `every`, counted from `anchor`.
pub fn every_from(every: &str, anchor: &str) -> Timing {
    timing(&format!(r#"{{"specs":[{{"every":{{"every":"{every}","anchor":"{anchor}"}}}}]}}"#))
}

pub fn schedule(name: &str, timing: Timing) -> PutSchedule {
    PutSchedule {
        name: name.to_owned(),
        timing,
        template: testkit::schedules::noop_template("v1").into(),
        overlap: Overlap::Allow,
        misfire: Misfire::FireNextSoon,
        pause_after_failures: None,
        paused: None,
        created_by: "aaaaaaaaaaaa".to_owned().into(),
        if_version: None,
    }
}

pub async fn seconds(seconds: f64) {
    clock::sleep(Duration::from_secs_f64(seconds)).await;
}
