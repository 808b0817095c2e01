//! Test databases: migrated, separate, gone afterwards.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::services::PrivatePostgres;
use testkit::{poll, psql};

async fn count_named(url: &str, name: &str) -> i64 {
    psql::number(url, &format!("select count(*) from pg_database where datname = '{name}'"))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_test_database_has_every_migration_and_no_rows() {
    let database = TestDatabase::new().await.unwrap();
    let applied =
        psql::number(database.owner_url(), "select count(*) from _sqlx_migrations where success")
            .await;
    let files =
        std::fs::read_dir(testkit::settings::workspace().join("migrations")).unwrap().flatten();
    let sql = files.filter(|file| file.path().extension().is_some_and(|end| end == "sql")).count();
    assert_eq!(usize::try_from(applied.unwrap()).unwrap(), sql);
    assert_eq!(psql::number(database.owner_url(), "select count(*) from task").await.unwrap(), 0);
}

#[tokio::test]
async fn two_test_databases_do_not_see_each_other() {
    let (one, other) = (TestDatabase::new().await.unwrap(), TestDatabase::new().await.unwrap());
    one.sql("create table mine (n int)").await.unwrap();
    other.sql("select * from mine").await.unwrap_err();
}

#[tokio::test]
async fn every_service_role_can_log_in_and_owns_nothing() {
    let database = TestDatabase::new().await.unwrap();
    for role in ["berth_api", "berth_submit", "berth_scheduler", "berth_rm", "berth_admin"] {
        let url = database.role_url(role).unwrap();
        assert_eq!(psql::run(&url, "select current_user").await.unwrap(), role);
        let owned =
            psql::number(&url, "select count(*) from pg_tables where tableowner = current_user")
                .await;
        assert_eq!(owned.unwrap(), 0, "{role} owns tables");
    }
}

#[tokio::test]
async fn a_dropped_test_database_is_gone_and_its_template_stays() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    let database = TestDatabase::on(&url).await.unwrap();
    let name = database.name().to_owned();
    assert_eq!(count_named(&url, &name).await, 1);
    drop(database);
    let gone = async || count_named(&url, &name).await == 0;
    poll::until("the database to be dropped", Duration::from_secs(20), gone).await.unwrap();
    let templates = "select count(*) from pg_database where datname like 'berth_template_%'";
    assert_eq!(psql::number(&url, templates).await.unwrap(), 1);
}

#[tokio::test]
async fn tests_that_begin_at_once_make_the_template_once() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    let (a, b, c) =
        tokio::join!(TestDatabase::on(&url), TestDatabase::on(&url), TestDatabase::on(&url));
    let databases = [a.unwrap(), b.unwrap(), c.unwrap()];
    let like =
        |pattern: &str| format!("select count(*) from pg_database where datname like '{pattern}'");
    assert_eq!(psql::number(&url, &like("berth_template_%")).await.unwrap(), 1);
    assert_eq!(psql::number(&url, &like("berth_test_%")).await.unwrap(), 3);
    drop(databases);
}
