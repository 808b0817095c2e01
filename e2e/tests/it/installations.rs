//! An installation as a whole: roles that know their own logins alone, and one that is restored in another cluster.

use anyhow::{Context, ensure};
use e2e::{Cluster, Customer, KEY_HASH_SECRET, Role, Shape};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use testkit::db::{SERVICE_PASSWORD, TestDatabase};
use testkit::services::{PrivatePostgres, TestBroker};
use testkit::{poll, program, psql};

const SOON: Duration = Duration::from_secs(20);
const LOGINS: [(&str, &str); 6] = [
    ("API_URL", "berth_api"),
    ("SUBMIT_URL", "berth_submit"),
    ("ADMIN_URL", "berth_admin"),
    ("SCHEDULER_URL", "berth_scheduler"),
    ("RM_URL", "berth_rm"),
    ("NOTIFIER_URL", "berth_notifier"),
];

fn one_of_each() -> Shape {
    Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1))
}

/// What a program says on standard output; an error where it fails.
async fn run(
    program: &Path,
    arguments: &[&str],
    settings: &[(&str, &str)],
) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new(program);
    let output = command.args(arguments).envs(settings.iter().copied()).output().await?;
    ensure!(
        output.status.success(),
        "{} {arguments:?}: {}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

async fn ended(customer: &Customer, id: &str) -> anyhow::Result<Value> {
    poll::until_some(&format!("the end of {id}"), SOON, || async {
        let task = customer.get(id).await.ok()?;
        (!task["finished_at"].is_null()).then_some(task)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_runs_with_its_own_logins_alone_and_none_opens_another() -> anyhow::Result<()> {
    let postgres = PrivatePostgres::start().await?;
    let database = TestDatabase::on(&postgres.url()?).await?;
    let url_of = |user: &str, of: &str| {
        let url = database.role_url(user)?;
        anyhow::Ok(url.replace(SERVICE_PASSWORD, &format!("password-of-{of}")))
    };
    let mut settings = vec![("BERTH_DATABASE__URL".to_owned(), database.owner_url().to_owned())];
    for (name, user) in LOGINS {
        settings.push((format!("BERTH_DATABASE__{name}"), url_of(user, user)?));
    }
    let given: Vec<_> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let berth = program::find("cli", "berth")?;
    let refusal = run(&berth, &["migrate"], &given).await.unwrap_err().to_string();
    assert!(refusal.contains("berth_api") && refusal.contains("database.api_url"), "{refusal}");
    let script = run(&berth, &["migrate", "--print-roles"], &given).await?;
    for (_, user) in LOGINS {
        assert!(script.contains(&format!("create role {user} ")), "{script}");
    }
    assert!(!script.contains("password-of-") && !script.contains(SERVICE_PASSWORD), "{script}");
    run(&berth, &["migrate", "--reset-passwords"], &given).await?;
    // What Postgres says of a failure is told to the end.
    database
        .sql(
            "create function no_changes() returns event_trigger language plpgsql as $$ begin
                raise exception 'no changes today' using detail = 'They are frozen until Monday.'; end $$;
            create event trigger no_changes on ddl_command_start execute function no_changes()",
        )
        .await?;
    let failure = run(&berth, &["migrate"], &given).await.unwrap_err().to_string();
    assert!(failure.contains("no changes today"), "{failure}");
    assert!(failure.contains("DETAIL: They are frozen until Monday."), "{failure}");
    database.sql("drop event trigger no_changes; drop function no_changes()").await?;
    for (_, user) in LOGINS {
        psql::run(&url_of(user, user)?, "select 1").await?;
        let other = if user == "berth_rm" { "berth_api" } else { "berth_rm" };
        psql::run(&url_of(user, other)?, "select 1").await.unwrap_err();
    }

    let mut shape = one_of_each()
        .set("BERTH_DATABASE__URL", "")
        .set("BERTH_DATABASE__SERVICE_PASSWORD", "")
        .set_for_operators("BERTH_DATABASE__URL", "")
        .set_for_operators("BERTH_DATABASE__SERVICE_PASSWORD", "");
    for (name, value) in &settings[1..] {
        shape = match name.as_str() {
            "BERTH_DATABASE__SCHEDULER_URL" => shape.set_for(Role::Scheduler, name, value),
            "BERTH_DATABASE__RM_URL" => shape.set_for(Role::ResourceManager, name, value),
            "BERTH_DATABASE__ADMIN_URL" => {
                shape.set_for(Role::Api, name, value).set_for_operators(name, value)
            }
            _ => shape.set_for(Role::Api, name, value),
        };
    }
    let cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let task = json!({"run": {"command": {"argv": ["true"]}}});
    let id = customer.submit_until_answered(&task, "one").await?;
    assert_eq!(ended(&customer, &id).await?["state"], "succeeded");
    Ok(())
}

/// A cluster with a database of an owner who is no superuser.
struct Site {
    postgres: PrivatePostgres,
    owner_url: String,
    superuser_url: String,
}

impl Site {
    async fn make(owner: &str) -> anyhow::Result<Self> {
        let postgres = PrivatePostgres::start().await?;
        let url = postgres.url()?;
        psql::run(&url, &format!("create role {owner} login createrole password 'x'")).await?;
        psql::run(&url, &format!("create database berth owner {owner}")).await?;
        let place = url.rsplit('@').next().context("a place")?;
        let place = place.strip_suffix("/postgres").context("a database")?;
        let owner_url = format!("postgres://{owner}:x@{place}/berth");
        let superuser_url = url.replace("/postgres", "/berth").replace("//berth", "//postgres");
        Ok(Self { postgres, owner_url, superuser_url })
    }

    async fn berth(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let settings = [
            ("BERTH_DATABASE__URL", self.owner_url.as_str()),
            ("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD),
            ("BERTH_AUTH__KEY_HASH_SECRET", KEY_HASH_SECRET),
        ];
        run(&program::find("cli", "berth")?, arguments, &settings).await
    }

    async fn roles(&self) -> anyhow::Result<Cluster> {
        let database = TestDatabase::at(&self.owner_url)?;
        Cluster::on(one_of_each(), database, TestBroker::new().await?, None).await
    }

    async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        psql::run(&self.superuser_url, sql).await
    }

    async fn fires(&self) -> anyhow::Result<i64> {
        psql::number(&self.superuser_url, "select count(*) from schedule_fire").await
    }

    /// Rows of each table.
    async fn rows(&self) -> anyhow::Result<String> {
        self.sql(
            "select c.relname, (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I', c.relname),
                false, true, '')))[1] from pg_class c
                where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1",
        )
        .await
    }
}

/// Tasks in every state that lasts, and a schedule that is due each second.
struct Before {
    customer: Customer,
    done: String,
    runs: String,
    runs_once: String,
}

impl Before {
    async fn make(site: &Site, cluster: &Cluster) -> anyhow::Result<Self> {
        let customer = Customer::sign_up(cluster, "acme").await?;
        let submit =
            async |key: &str, task: Value| customer.submit_until_answered(&task, key).await;
        let failing = json!({"command": {"argv": ["false"]}});
        let sleeping = json!({"command": {"argv": ["sleep", "300"]}});
        let done = submit("done", json!({"run": {"noop": {}}})).await?;
        let failed = submit("failed", json!({"run": failing, "max_attempts": 1})).await?;
        let runs = submit("runs", json!({"run": sleeping})).await?;
        let once = json!({"run": sleeping, "delivery": "at_most_once", "max_attempts": 1});
        let runs_once = submit("once", once).await?;
        submit("later", json!({"run": {"noop": {}}, "delay": "1h"})).await?;
        let retry = json!({"backoff": "exponential", "initial": "1h", "max": "2h"});
        submit("retries", json!({"run": failing, "max_attempts": 3, "retry": retry})).await?;
        let timing = json!({"specs": [{"every": {"every": "1s"}}]});
        let schedule = json!({"timing": timing, "task": {"run": {"noop": {}}}});
        let (status, answer) =
            customer.call("PUT", "/v1/schedules/tick", Some(&schedule), None).await?;
        ensure!(status == 201, "{status} {answer}");
        assert_eq!(ended(&customer, &done).await?["state"], "succeeded");
        assert_eq!(ended(&customer, &failed).await?["state"], "failed");
        let ready = || async {
            let states = "select (select count(*) from task where state = 'running'), (select count(*) from task
                where state = 'retrying'), (select count(*) > 1 from schedule_fire), (select count(*) from audit_pending)";
            site.sql(states).await.is_ok_and(|seen| seen == "2|1|t|0")
        };
        poll::until("tasks in each state", SOON, ready).await?;
        Ok(Self { customer, done, runs, runs_once })
    }
}

/// Dumps one site and restores it on the other, as docs/restore.md says.
async fn move_over(from: &Site, to: &Site, folder: &Path) -> anyhow::Result<()> {
    let (dump, list) = (folder.join("berth.dump"), folder.join("berth.list"));
    let (dump, list) = (dump.to_string_lossy(), list.to_string_lossy());
    let (dumps, restores) =
        (psql::program().with_file_name("pg_dump"), psql::program().with_file_name("pg_restore"));
    let arguments = ["-Fc", "--enable-row-security", "-f", &*dump, &from.owner_url];
    run(&dumps, &arguments, &[]).await?;
    let whole = run(&restores, &["-l", &*dump], &[]).await?;
    let kept: Vec<_> = whole.lines().filter(|line| !line.contains(" POLICY ")).collect();
    std::fs::write(&*list, kept.join("\n"))?;
    let how = ["--no-owner", "--no-privileges", "--exit-on-error", "-L", &*list, "-d"];
    let arguments = [&how[..], &[&to.owner_url, &*dump]].concat();
    run(&restores, &arguments, &[]).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_is_restored_in_another_cluster_and_fires_nothing_unasked()
-> anyhow::Result<()> {
    let (old, new) = tokio::try_join!(Site::make("first_owner"), Site::make("second_owner"))?;
    old.berth(&["migrate"]).await?;
    let mut cluster = old.roles().await?;
    let before = Before::make(&old, &cluster).await?;
    for at in 0..Role::ALL.len() {
        cluster.kill9(at)?;
    }
    let folder = tempfile::tempdir()?;
    move_over(&old, &new, folder.path()).await?;
    assert_eq!(new.rows().await?, old.rows().await?);

    new.berth(&["migrate"]).await?;
    let (fires, cluster) = (new.fires().await?, new.roles().await?);
    let customer = Customer::with_key(&cluster, before.customer.key())?;
    assert_eq!(customer.get(&before.done).await?["state"], "succeeded");
    // What ran has lost its executor: it runs again, or ends where it may run once only.
    assert_eq!(ended(&customer, &before.runs_once).await?["state"], "failed");
    let again = || async {
        let task = customer.get(&before.runs).await.unwrap_or_default();
        task["state"] == "running" && task["attempts"] == 2
    };
    poll::until("what ran to run again", SOON, again).await?;
    let shown = cluster.berth(&["admin", "resume-after-restore"]).await?;
    assert!(
        shown.contains("tick") && shown.contains("acme") && shown.contains("--confirm"),
        "{shown}"
    );
    let found = new.berth(&["doctor", "--output", "json"]).await.unwrap_err().to_string();
    assert!(found.contains("1 of 39 checks failed"), "{found}");
    assert_eq!(new.fires().await?, fires, "nothing has fired");
    cluster.berth(&["admin", "resume-after-restore", "--confirm"]).await?;
    let fire = || async { new.fires().await.is_ok_and(|now| now > fires) };
    poll::until("schedules to fire again", SOON, fire).await?;
    new.berth(&["admin", "audit", "verify"]).await?;
    for site in [&old, &new] {
        let log = site.postgres.log();
        assert!(!log.contains("WARNING"), "{log}");
    }
    Ok(())
}
