//! Webhooks: each event has one delivery, whatever is repeated; what is claimed is nobody else's until its lease is over; and of one subject
//! nothing goes before what came first.

use crate::support::{World, config};
use domain::event::TypePattern;
use domain::id::{DeliveryId, TenantId, WebhookName};
use domain::webhook::{DeliveryState, DeliveryTry, SigningSecret, WebhookSpec};
use runtime::clock::wall;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::TenantScope;
use store::connect::NotifierDb;
use store::webhook::{
    self, Claimed, DeliveryFilter, Event, Full, NewDelivery, Secret, TryResult, WebhookStored,
};
use testkit::poll::until;

const LEASE: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(60);
const NEVER: (u32, Duration) = (u32::MAX, Duration::MAX);

fn spec() -> WebhookSpec {
    WebhookSpec {
        url: "https://a.example/".into(),
        events: vec!["berth.quota.*".into()],
        name: None,
        labels: BTreeMap::new(),
        schedule: None,
        workflow: None,
        headers: BTreeMap::new(),
        payload: None,
        ordered: false,
        paused: false,
    }
}

fn secret(byte: u8) -> SigningSecret {
    SigningSecret::of([byte; 32])
}

async fn put(world: &World, tenant: TenantId, name: &str, spec: &WebhookSpec) {
    let (scope, name) = (TenantScope::of_role(tenant), name.parse().unwrap());
    let secret = Secret::Fresh(secret(1));
    let stored = webhook::put(&world.api, &scope, (&name, None), spec, &secret).await.unwrap();
    assert!(matches!(stored, WebhookStored::Created(_) | WebhookStored::Updated(_)), "{stored:?}");
}

fn notifier(world: &World) -> NotifierDb {
    NotifierDb::connect(&config(&world.database)).unwrap()
}

/// Writes events of `count` quotas named by `subject` and a number.
async fn happen(world: &World, tenant: TenantId, subject: &str, count: usize) {
    world
        .sql(format!(
            "insert into task_event (tenant_id, kind, detail)
                select '{}', 'quota_nearly_used', jsonb_build_object('quota', '{subject}', 'n', n) from generate_series(1, {count}) n",
            tenant.uuid()
        ))
        .await;
}

fn render(event: Event<'_>) -> Option<NewDelivery> {
    let content = event.record.content();
    let asked = event
        .spec
        .events
        .iter()
        .any(|text| text.parse::<TypePattern>().unwrap().fits(&content.event_type));
    let body = content.data.to_string();
    asked.then_some(NewDelivery { event_type: content.event_type, subject: content.subject, body })
}

/// Tells all that has happened; an older transaction anywhere in the cluster holds it up for a moment.
async fn tell_all(world: &World, db: &NotifierDb, deliveries: i64) {
    until("all deliveries to be stored", LIMIT, async || {
        webhook::fan_out(db, render).await.unwrap();
        world.number("select count(*) from webhook_delivery").await == deliveries
    })
    .await
    .unwrap();
}

async fn claim(db: &NotifierDb, room: u32) -> Vec<Claimed> {
    webhook::claim(db, &Full::default(), LEASE, |_| room).await.unwrap()
}

fn tried(claimed: &Claimed, status: u16, again_after: Option<Duration>) -> TryResult {
    let tried = DeliveryTry { at: wall(), ms: 3, status: Some(status), error: None, answer: None };
    TryResult {
        webhook: claimed.hook.id,
        at: claimed.at,
        id: claimed.id,
        tried,
        is_delivered: status == 200,
        again_after,
        is_gone: status == 410,
    }
}

async fn log(world: &World, tenant: TenantId, name: &str) -> Vec<webhook::Delivery> {
    let (scope, name): (_, WebhookName) = (TenantScope::of_role(tenant), name.parse().unwrap());
    let all = DeliveryFilter::default();
    webhook::deliveries(&world.api, &scope, &name, &all, (None, 100)).await.unwrap().unwrap()
}

#[tokio::test]
async fn each_webhook_has_one_delivery_of_each_event_since_it_was_stored() {
    let world = World::new().await;
    let (mine, other) = (world.tenant().await, world.tenant().await);
    let db = notifier(&world);
    happen(&world, mine, "before", 3).await;
    for (tenant, name) in [(mine, "one"), (mine, "two"), (other, "one")] {
        put(&world, tenant, name, &spec()).await;
    }
    let nothing = WebhookSpec { events: vec!["berth.spend_cap.*".into()], ..spec() };
    put(&world, mine, "nothing", &nothing).await;
    happen(&world, mine, "backlog", 700).await;
    happen(&world, other, "backlog", 1).await;
    tell_all(&world, &db, 1401).await;
    for _ in 0..3 {
        webhook::fan_out(&db, render).await.unwrap();
    }
    assert_eq!(world.number("select count(*) from webhook_delivery").await, 1401);
    // A cursor that a crash of the database took back tells again under the same ids.
    world.sql("update webhook set txid = 0, seq = 0").await;
    tell_all(&world, &db, 1401).await;
    let ids: BTreeSet<DeliveryId> =
        log(&world, mine, "one").await.iter().map(|d| d.place.id).collect();
    assert_eq!(ids.len(), 100);
    assert!(log(&world, mine, "nothing").await.is_empty());
    assert_eq!(log(&world, other, "one").await.len(), 1);
}

#[tokio::test]
async fn what_is_claimed_is_nobody_elses_until_its_lease_is_over() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (db, second) = (notifier(&world), notifier(&world));
    put(&world, tenant, "one", &spec()).await;
    happen(&world, tenant, "backlog", 10).await;
    tell_all(&world, &db, 10).await;
    let first = claim(&db, 4).await;
    let others = claim(&second, 100).await;
    assert_eq!((first.len(), others.len(), claim(&db, 100).await.len()), (4, 6, 0));
    // Written twice it counts once; one that another has sent meanwhile stays as it is.
    for _ in 0..2 {
        webhook::settle(&db, &[tried(&first[0], 200, None)], NEVER).await.unwrap();
    }
    webhook::settle(&second, &[tried(&first[0], 500, Some(LEASE))], NEVER).await.unwrap();
    let delivered = log(&world, tenant, "one").await;
    let one = delivered.iter().find(|one| one.place.id == first[0].id).unwrap();
    assert_eq!((one.state, one.tries, one.log.len()), (DeliveryState::Delivered, 1, 1));
    // Whoever had the rest died.
    world.sql("update webhook_delivery set due_at = now() where state = 'pending'; update webhook set next_due = now()").await;
    let again = claim(&second, 100).await;
    assert_eq!(again.len(), 9);
    let given_up = [tried(&again[0], 500, None), tried(&again[1], 500, Some(Duration::ZERO))];
    webhook::settle(&second, &given_up, NEVER).await.unwrap();
    let soon = claim(&second, 100).await;
    assert_eq!(soon.iter().map(|one| (one.id, one.tries)).collect::<Vec<_>>(), [(again[1].id, 1)]);
    assert_eq!(soon[0].hook.failures, 3);
}

#[tokio::test]
async fn in_order_the_next_of_a_subject_waits_for_the_one_before() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let db = notifier(&world);
    put(&world, tenant, "one", &WebhookSpec { ordered: true, ..spec() }).await;
    happen(&world, tenant, "a", 3).await;
    happen(&world, tenant, "b", 2).await;
    tell_all(&world, &db, 5).await;
    let numbers = |claimed: &[Claimed]| {
        let mut all: Vec<_> = claimed.iter().map(|one| one.body.clone()).collect();
        all.sort();
        all
    };
    let first = claim(&db, 100).await;
    assert_eq!(numbers(&first), [r#"{"n":1,"quota":"a"}"#, r#"{"n":1,"quota":"b"}"#]);
    assert_eq!(claim(&db, 100).await.len(), 0);
    let a = first.iter().find(|one| one.body.contains(r#""a""#)).unwrap();
    webhook::settle(&db, &[tried(a, 200, None)], NEVER).await.unwrap();
    let second = claim(&db, 100).await;
    assert_eq!(numbers(&second), [r#"{"n":2,"quota":"a"}"#]);
    // One that is given up lets the next go, too.
    webhook::settle(&db, &[tried(&second[0], 500, None)], NEVER).await.unwrap();
    assert_eq!(numbers(&claim(&db, 100).await), [r#"{"n":3,"quota":"a"}"#]);
}

#[tokio::test]
async fn a_webhook_is_disabled_for_its_failures_and_its_tenant_has_an_event() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (db, scope) = (notifier(&world), TenantScope::of_role(tenant));
    put(&world, tenant, "one", &spec()).await;
    happen(&world, tenant, "backlog", 6).await;
    tell_all(&world, &db, 6).await;
    let all = claim(&db, 100).await;
    let fails = |one: &Claimed| tried(one, 500, Some(LEASE));
    let at = (3, Duration::ZERO);
    // A success in between begins the count anew.
    for batch in [
        vec![fails(&all[0]), fails(&all[1])],
        vec![tried(&all[2], 200, None)],
        vec![fails(&all[3])],
    ] {
        assert!(webhook::settle(&db, &batch, at).await.unwrap().disabled.is_empty());
    }
    let name = "one".parse().unwrap();
    let stands = webhook::find(&world.api, &scope, &name).await.unwrap().unwrap();
    assert_eq!((stands.failures, stands.failing_since.is_some(), stands.disabled), (1, true, None));
    let ended = webhook::settle(&db, &[fails(&all[4]), fails(&all[5])], at).await.unwrap();
    assert_eq!(ended.disabled, [all[0].hook.id]);
    let events = "select count(*) from task_event where kind = 'webhook_disabled' and detail ->> 'webhook' = 'one'";
    assert_eq!(world.number(events).await, 1);
    // Nothing is stored or claimed until somebody enables it; then what happened meanwhile comes, too.
    happen(&world, tenant, "later", 1).await;
    webhook::fan_out(&db, render).await.unwrap();
    assert_eq!(claim(&db, 100).await.len(), 0);
    let resumed = webhook::resume(&world.api, &scope, &name).await.unwrap().unwrap();
    assert_eq!((resumed.failures, resumed.disabled), (0, None));
    tell_all(&world, &db, 7).await;
    // Gone is gone, at once.
    let last = claim(&db, 100).await;
    let gone = webhook::settle(&db, &[tried(&last[0], 410, None)], NEVER).await.unwrap();
    assert_eq!(gone.disabled.len(), 1);
}

#[tokio::test]
async fn a_replay_is_of_what_has_ended_and_a_deleted_webhook_leaves_nothing_to_send() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (db, scope) = (notifier(&world), TenantScope::of_role(tenant));
    let name: WebhookName = "one".parse().unwrap();
    put(&world, tenant, "one", &spec()).await;
    happen(&world, tenant, "backlog", 3).await;
    tell_all(&world, &db, 3).await;
    let all = claim(&db, 100).await;
    webhook::settle(&db, &[tried(&all[0], 200, None), tried(&all[1], 500, None)], NEVER)
        .await
        .unwrap();
    let replay = async |only_failed| {
        let until = wall() + chrono::TimeDelta::hours(1);
        let from = wall() - chrono::TimeDelta::hours(1);
        let filter = webhook::ReplayFilter { from, until, only_failed };
        webhook::replay(&world.api, &scope, &name, filter).await.unwrap().unwrap().deliveries
    };
    assert_eq!((replay(true).await, replay(true).await, replay(false).await), (1, 0, 1));
    let again: BTreeSet<_> = claim(&db, 100).await.iter().map(|one| (one.id, one.tries)).collect();
    assert_eq!(again, BTreeSet::from([(all[0].id, 0), (all[1].id, 0)]));
    // One that is being sent is not sent beside that.
    let one = webhook::replay_one(&world.api, &scope, &name, all[2].id).await.unwrap().unwrap();
    assert_eq!(one.state, DeliveryState::Pending);
    assert!(claim(&db, 100).await.is_empty());
    assert_eq!(
        webhook::delete(&world.api, &scope, &name, None).await.unwrap(),
        webhook::WebhookDeleted::Yes
    );
    webhook::settle(&db, &[tried(&all[2], 500, Some(Duration::ZERO))], NEVER).await.unwrap();
    assert!(claim(&db, 100).await.is_empty());
    assert_eq!(world.number("select count(*) from event_consumer").await, 0);
}

#[tokio::test]
async fn a_given_secret_replaces_the_present_one_and_both_sign_for_a_while() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (db, scope, name) =
        (notifier(&world), TenantScope::of_role(tenant), "one".parse::<WebhookName>().unwrap());
    put(&world, tenant, "one", &spec()).await;
    let given = Secret::Given(secret(2));
    let put =
        async || webhook::put(&world.api, &scope, (&name, None), &spec(), &given).await.unwrap();
    assert!(matches!(put().await, WebhookStored::Updated(one) if one.old_secret_until.is_some()));
    assert!(matches!(put().await, WebhookStored::Unchanged(_)), "it is the present one");
    let test = (DeliveryId::fresh(), "berth.webhook.test");
    webhook::test(&world.api, &scope, &name, test, "{}").await.unwrap().unwrap();
    let claimed = claim(&db, 1).await;
    assert_eq!(claimed[0].hook.secrets, [secret(2), secret(1)]);
    webhook::rotate(&world.api, &scope, &name, &secret(3), Duration::ZERO).await.unwrap().unwrap();
    webhook::replay_one(&world.api, &scope, &name, claimed[0].id).await.unwrap();
    webhook::settle(&db, &[tried(&claimed[0], 500, Some(Duration::ZERO))], NEVER).await.unwrap();
    assert_eq!(claim(&db, 1).await[0].hook.secrets, [secret(3)]);
}

#[tokio::test]
async fn one_that_cannot_be_read_is_disabled_and_delays_no_other() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let db = notifier(&world);
    for name in ["broken", "good", "locked"] {
        put(&world, tenant, name, &spec()).await;
    }
    world.sql("update webhook set spec = '[]' where name = 'broken'").await;
    happen(&world, tenant, "backlog", 1).await;
    tell_all(&world, &db, 2).await;
    world.sql("update webhook set secret = 'x' where name = 'locked'").await;
    assert_eq!(claim(&db, 9).await.len(), 1);
    let disabled = "select string_agg(name, ' ' order by name) from webhook where disabled_reason like '%another version%'";
    assert_eq!(world.text(disabled).await.as_deref(), Some("broken locked"));
    // Of whom nothing is wanted, nothing is claimed.
    happen(&world, tenant, "backlog", 1).await;
    tell_all(&world, &db, 3).await;
    let full = Full { tenants: vec![tenant], ..Full::default() };
    assert!(webhook::claim(&db, &full, LEASE, |_| 9).await.unwrap().is_empty());
    assert_eq!(claim(&db, 9).await.len(), 1);
}
