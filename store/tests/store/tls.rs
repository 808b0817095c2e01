//! A Postgres with TLS of a private CA.

use crate::support::config_of;
use runtime::config::DatabaseConfig;
use runtime::error_chain::ErrorChain;
use sqlx::{Connection, PgConnection, Row};
use std::fs;
use std::path::Path;
use std::time::Duration;
use store::StoreError;
use store::connect::{AdminDb, ApiDb, RmDb, SchedulerDb, SubmitDb};
use store::migrate::{self, How};
use tempfile::TempDir;
use testkit::authority::Authority;
use testkit::poll::until;
use testkit::services::PrivatePostgres;

const SOON: Duration = Duration::from_secs(30);

/// A handle of each service.
struct Handles {
    api: ApiDb,
    submit: SubmitDb,
    scheduler: SchedulerDb,
    rm: RmDb,
    admin: AdminDb,
}

impl Handles {
    fn connect(config: &DatabaseConfig) -> Self {
        Self {
            api: ApiDb::connect(config).unwrap(),
            submit: SubmitDb::connect(config).unwrap(),
            scheduler: SchedulerDb::connect(config).unwrap(),
            rm: RmDb::connect(config).unwrap(),
            admin: AdminDb::connect(config).unwrap(),
        }
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.api.ping().await?;
        self.submit.ping().await?;
        self.scheduler.ping().await?;
        self.rm.ping().await?;
        self.admin.ping().await
    }
}

/// Why new connections with this configuration are refused, with all causes.
async fn refusal(config: &DatabaseConfig) -> String {
    let error = Handles::connect(config).ping().await.unwrap_err();
    ErrorChain(&error).to_string()
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_private_ca_is_trusted_by_its_file_which_each_connection_reads_again() {
        let postgres = PrivatePostgres::start().await.unwrap();
        let first = Authority::new("a private CA").unwrap();
        let second = Authority::new("another CA").unwrap();
        let folder = TempDir::new().unwrap();
        let (own, other) = (folder.path().join("own.pem"), folder.path().join("other.pem"));
        fs::write(&own, &first.certificate).unwrap();
        fs::write(&other, &second.certificate).unwrap();
        let plain = postgres.url().unwrap();
        let trusting = |ca: &Path| {
            config_of(&format!("{plain}?sslmode=verify-full&sslrootcert={}", ca.display()))
        };
        let (of_own, of_other) = (trusting(&own), trusting(&other));

        postgres.serve_tls(&first.issue("postgres").unwrap()).unwrap();
        let migrated = || async { migrate::run(&of_own, How::default()).await.is_ok() };
        until("a Postgres with TLS", SOON, migrated).await.unwrap();
        let handles = Handles::connect(&of_own);
        handles.ping().await.unwrap();
        let mut owner = PgConnection::connect(&plain).await.unwrap();
        let encrypted = "select count(*) >= 5 and bool_and(s.ssl) from pg_stat_ssl s
            join pg_stat_activity a using (pid) where a.usename like 'berth\\_%'";
        let row = sqlx::raw_sql(encrypted).fetch_one(&mut owner).await.unwrap();
        assert!(row.get::<bool, _>(0), "a service speaks plain text");
        let refused = refusal(&of_other).await;
        assert!(refused.contains("UnknownIssuer"), "{refused}");

        fs::write(&own, &second.certificate).unwrap();
        postgres.serve_tls(&second.issue("postgres").unwrap()).unwrap();
        let renewed = || async { Handles::connect(&of_other).ping().await.is_ok() };
        until("the renewed certificate", SOON, renewed).await.unwrap();
        let end =
            "select pg_terminate_backend(pid) from pg_stat_activity where usename like 'berth\\_%'";
        sqlx::raw_sql(end).execute(&mut owner).await.unwrap();
        let again = || async { handles.ping().await.is_ok() };
        until("the same handles on new connections", SOON, again).await.unwrap();
        fs::write(&own, &first.certificate).unwrap();
        let refused = refusal(&of_own).await;
        assert!(refused.contains("UnknownIssuer"), "{refused}");
    }
}
