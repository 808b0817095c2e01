//! Idempotency keys and unique keys: decided by the database, inside a slice, across transactions, and under load.

use crate::support::{World, ended, new_task};
use domain::id::{NodeId, TenantId};
use domain::task::Event;
use std::sync::Arc;
use std::time::Duration;
use store::idempotency::IdempotencyKey;
use store::task::submit::{NewTask, SubmitAnswer, insert};
use store::task::transition;
use tokio::task::JoinSet;

fn keyed(tenant: TenantId, key: &str, body: u8) -> NewTask {
    let idempotency = Some(IdempotencyKey {
        route: "POST /v1/tasks".to_owned(),
        key: key.to_owned(),
        body_hash: [body; 32],
    });
    NewTask { idempotency, ..new_task(tenant) }
}

fn unique(tenant: TenantId, key: &str) -> NewTask {
    NewTask { unique_key: Some(key.to_owned()), ..new_task(tenant) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_parallel_submissions_of_one_key_make_one_task() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let mut clients = JoinSet::new();
    for number in 0..100 {
        let world = Arc::clone(&world);
        clients.spawn(async move {
            // Some come in groups, as the api sends them.
            let tasks: Vec<_> = (0..1 + number % 3).map(|_| keyed(tenant, "k", 1)).collect();
            (tasks[0].id, insert(&world.submit, &tasks).await.unwrap())
        });
    }
    let (mut made, mut replayed) = (Vec::new(), Vec::new());
    while let Some(client) = clients.join_next().await {
        let (first, answers) = client.unwrap();
        for answer in answers {
            match answer {
                SubmitAnswer::Created(_) => made.push(first),
                SubmitAnswer::Replayed(task) => replayed.push(task),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(made.len(), 1);
    assert!(replayed.iter().all(|task| *task == made[0]), "all are told the one task");
    world.check_promises(1).await;
}

#[tokio::test]
async fn a_key_with_another_body_is_refused_and_other_tenants_and_routes_are_apart() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let first = keyed(tenant, "k", 1);
    let mut elsewhere = keyed(tenant, "k", 2);
    elsewhere.idempotency.as_mut().unwrap().route = "POST /v1/other".to_owned();
    let slice = [
        first.clone(),
        keyed(tenant, "k", 2),
        keyed(other, "k", 2),
        elsewhere,
        keyed(tenant, "k", 1),
        new_task(tenant),
    ];
    let answers = insert(&world.submit, &slice).await.unwrap();
    let fresh = |answer: &SubmitAnswer| matches!(answer, SubmitAnswer::Created(_));
    assert!(
        fresh(&answers[0]) && fresh(&answers[2]) && fresh(&answers[3]) && fresh(&answers[5]),
        "{answers:?}"
    );
    assert_eq!(answers[1], SubmitAnswer::KeyReused);
    assert_eq!(answers[4], SubmitAnswer::Replayed(first.id));
    let later =
        insert(&world.submit, &[keyed(tenant, "k", 1), keyed(tenant, "k", 9)]).await.unwrap();
    assert_eq!(later, [SubmitAnswer::Replayed(first.id), SubmitAnswer::KeyReused]);
    world.check_promises(4).await;
}

#[tokio::test]
async fn a_replay_names_the_task_also_after_it_ended() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let first = keyed(tenant, "k", 1);
    insert(&world.submit, std::slice::from_ref(&first)).await.unwrap();
    let scope = store::TenantScope::of_role(tenant);
    transition::cancel_requested(&world.api, &scope, &[first.id], Duration::ZERO).await.unwrap();
    let answers = insert(&world.submit, &[keyed(tenant, "k", 1)]).await.unwrap();
    assert_eq!(answers, [SubmitAnswer::Replayed(first.id)]);
}

#[tokio::test]
async fn within_a_slice_the_first_of_a_unique_key_wins_and_replays_name_the_holder() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let holder = unique(tenant, "u");
    let keyed_loser =
        |body| NewTask { unique_key: Some("u".to_owned()), ..keyed(tenant, "k", body) };
    let slice = [
        holder.clone(),
        unique(tenant, "u"),
        unique(other, "u"),
        keyed_loser(1),
        keyed_loser(1),
        keyed_loser(2),
    ];
    let answers = insert(&world.submit, &slice).await.unwrap();
    assert!(matches!(answers[0], SubmitAnswer::Created(_)));
    assert_eq!(answers[1], SubmitAnswer::Existing(holder.id));
    assert!(matches!(answers[2], SubmitAnswer::Created(_)), "another tenant's key is another");
    assert_eq!(answers[3], SubmitAnswer::Existing(holder.id));
    assert_eq!(answers[4], SubmitAnswer::Replayed(holder.id), "not the task that was never stored");
    assert_eq!(answers[5], SubmitAnswer::KeyReused);
    let later = insert(&world.submit, &[keyed_loser(1)]).await.unwrap();
    assert_eq!(later, [SubmitAnswer::Replayed(holder.id)]);
    world.check_promises(2).await;
}

#[tokio::test]
async fn a_unique_key_is_free_again_once_its_holder_ended() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let first = unique(tenant, "u");
    insert(&world.submit, std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(
        insert(&world.submit, &[unique(tenant, "u")]).await.unwrap(),
        [SubmitAnswer::Existing(first.id)]
    );
    let lease = world.place(owned, &world.dispatch(leader, &[(tenant, first.id)]).await).await[0];
    transition::completed(&world.rm, &[ended(lease, Event::Completed)]).await.unwrap();
    let answers = insert(&world.submit, &[unique(tenant, "u")]).await.unwrap();
    assert!(matches!(answers[..], [SubmitAnswer::Created(_)]), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unique_keys_whose_holders_end_meanwhile_are_held_by_one_task_at_any_time() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let mut clients = JoinSet::new();
    for number in 0..12_u64 {
        let world = Arc::clone(&world);
        clients.spawn(async move {
            let mut random = crate::support::Shuffle::new(number + 1);
            let scope = store::TenantScope::of_role(tenant);
            let (mut made, keys) = (0_usize, ["a", "b", "c", "d", "e"]);
            for _ in 0..15 {
                let slice: Vec<_> =
                    random.some(&keys, 4).into_iter().map(|key| unique(tenant, key)).collect();
                let answers = insert(&world.submit, &slice).await.unwrap();
                made += answers.iter().filter(|a| matches!(a, SubmitAnswer::Created(_))).count();
                let known = slice.iter().zip(&answers).map(|(task, answer)| match answer {
                    SubmitAnswer::Existing(holder) => *holder,
                    _ => task.id,
                });
                let some = random.some(&known.collect::<Vec<_>>(), 2);
                transition::cancel_requested(&world.api, &scope, &some, Duration::ZERO)
                    .await
                    .unwrap();
            }
            made
        });
    }
    let made: usize = clients.join_all().await.into_iter().sum();
    assert!(made > 5, "{made}");
    world.check_promises(made).await;
    assert_eq!(world.deadlocks().await, 0);
}

#[tokio::test]
async fn old_keys_are_purged_a_few_at_a_time_and_fresh_ones_stay() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks: Vec<_> = (0..10).map(|n| keyed(tenant, &n.to_string(), 1)).collect();
    insert(&world.submit, &tasks).await.unwrap();
    world.sql("update idempotency set created_at = created_at - interval '25 hours' where key::integer < 7").await;
    let day = Duration::from_secs(86_400);
    let purge =
        async |limit| store::idempotency::purge(&world.scheduler, day, limit).await.unwrap();
    assert_eq!(purge(5).await, 5);
    assert_eq!(purge(5).await, 2);
    assert_eq!(purge(5).await, 0);
    assert_eq!(world.number("select count(*) from idempotency").await, 3);
    let again = insert(&world.submit, &[keyed(tenant, "0", 2)]).await.unwrap();
    assert!(
        matches!(again[..], [SubmitAnswer::Created(_)]),
        "a purged key is as if it had never been"
    );
}
