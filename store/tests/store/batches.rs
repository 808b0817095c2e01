//! A batch with a key: stored once, answered the same, byte for byte; and the keys of other writes.

use crate::support::{World, labels, new_task};
use domain::id::TenantId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::TenantScope;
use store::idempotency::{self, Begun, IdempotencyKey};
use store::task::submit::{BatchAnswer, NewTask, SubmitAnswer, insert_batch};
use tokio::task::JoinSet;

fn key(name: &str, body: u8) -> IdempotencyKey {
    IdempotencyKey {
        route: "POST /v1/tasks/batch".to_owned(),
        key: name.to_owned(),
        body_hash: [body; 32],
    }
}

fn tasks(tenant: TenantId, count: usize) -> Vec<NewTask> {
    (0..count).map(|_| new_task(tenant)).collect()
}

/// Differs with every call, so that a second rendering would show.
fn render(answers: &[SubmitAnswer]) -> Vec<u8> {
    static CALL: AtomicU32 = AtomicU32::new(0);
    format!("{} answers, call {}", answers.len(), CALL.fetch_add(1, Ordering::Relaxed)).into_bytes()
}

#[tokio::test]
async fn a_batch_is_stored_once_and_replayed_byte_for_byte() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let send = async |key: Option<IdempotencyKey>| {
        insert_batch(&world.submit, &scope, key.as_ref(), &tasks(tenant, 5), render).await.unwrap()
    };
    let BatchAnswer::Fresh(first) = send(Some(key("k", 1))).await else { panic!("not fresh") };
    assert_eq!(send(Some(key("k", 1))).await, BatchAnswer::Replayed(first.clone()));
    assert_eq!(send(Some(key("k", 2))).await, BatchAnswer::KeyReused);
    assert!(matches!(send(Some(key("l", 2))).await, BatchAnswer::Fresh(_)));
    assert!(matches!(send(None).await, BatchAnswer::Fresh(_)));
    world.check_promises(15).await;
    let other = world.tenant().await;
    let elsewhere = insert_batch(
        &world.submit,
        &TenantScope::of_role(other),
        Some(&key("k", 2)),
        &tasks(other, 1),
        render,
    )
    .await;
    assert!(matches!(elsewhere.unwrap(), BatchAnswer::Fresh(_)), "another tenant's key is another");
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_batches_of_one_key_are_stored_once() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let mut clients = JoinSet::new();
    for _ in 0..20 {
        let world = Arc::clone(&world);
        clients.spawn(async move {
            let scope = TenantScope::of_role(tenant);
            insert_batch(&world.submit, &scope, Some(&key("k", 1)), &tasks(tenant, 50), render)
                .await
                .unwrap()
        });
    }
    let answers = clients.join_all().await;
    let bodies: std::collections::HashSet<_> = answers
        .iter()
        .map(|answer| match answer {
            BatchAnswer::Fresh(body) | BatchAnswer::Replayed(body) => body.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bodies.len(), 1, "one answer for all");
    assert_eq!(answers.iter().filter(|answer| matches!(answer, BatchAnswer::Fresh(_))).count(), 1);
    world.check_promises(50).await;
}

#[tokio::test]
async fn a_batch_that_fails_leaves_neither_tasks_nor_key() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let mut bad = tasks(tenant, 3);
    bad[2].spec.labels = labels("a", "a NUL \0");
    insert_batch(&world.submit, &scope, Some(&key("k", 1)), &bad, render).await.unwrap_err();
    assert_eq!(world.number("select count(*) from idempotency").await, 0);
    world.check_promises(0).await;
    let again = insert_batch(&world.submit, &scope, Some(&key("k", 1)), &tasks(tenant, 3), render)
        .await
        .unwrap();
    assert!(matches!(again, BatchAnswer::Fresh(_)));
}

#[tokio::test]
async fn an_empty_batch_has_an_answer_too() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let BatchAnswer::Fresh(first) =
        insert_batch(&world.submit, &scope, Some(&key("k", 1)), &[], render).await.unwrap()
    else {
        panic!("not fresh")
    };
    let again = insert_batch(&world.submit, &scope, Some(&key("k", 1)), &[], render).await.unwrap();
    assert_eq!(again, BatchAnswer::Replayed(first));
}

#[tokio::test]
async fn another_writes_key_is_fresh_then_unfinished_then_replayed() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let begin = async |body| idempotency::begin(&world.api, &scope, &key("k", body)).await.unwrap();
    assert_eq!(begin(1).await, Begun::Fresh);
    assert_eq!(begin(1).await, Begun::Unfinished);
    assert_eq!(begin(2).await, Begun::KeyReused);
    idempotency::finish(&world.api, &scope, &key("k", 1), 202, b"done").await.unwrap();
    assert_eq!(begin(1).await, Begun::Replayed { status: 202, body: b"done".to_vec() });
    let other = TenantScope::of_role(world.tenant().await);
    assert_eq!(idempotency::begin(&world.api, &other, &key("k", 2)).await.unwrap(), Begun::Fresh);
}
