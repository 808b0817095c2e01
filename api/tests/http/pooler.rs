//! Behind a transaction pooler with its own defaults: the API is ready, and answers.

use crate::client::request;
use crate::server::{NOOP, Server};
use std::time::Duration;
use testkit::poll::until_some;
use testkit::services::PrivatePgBouncer;

#[tokio::test(flavor = "multi_thread")]
async fn behind_pgbouncer_in_transaction_mode_the_api_is_ready_stores_tasks_and_lists_them() {
    if !PrivatePgBouncer::is_installed() {
        eprintln!("SKIPPED: PgBouncer is not installed; scripts/setup installs it");
        return;
    }
    let server = Server::start().await;
    let pooler = PrivatePgBouncer::start(&server.db.role_url("berth_api").unwrap()).await.unwrap();
    let api = server
        .twin_with(&[("BERTH_DATABASE__API_URL", pooler.url()), ("BERTH_DATABASE__POOLER", "true")])
        .await;
    let ready = || async {
        let answer = request(api.addr, "GET", "/readyz", &[], b"").await;
        (answer.status == 200).then_some(())
    };
    until_some("the API to be ready", Duration::from_secs(10), ready).await.unwrap();
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let stored = request(api.addr, "POST", "/v1/tasks", &headers, NOOP.as_bytes()).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    // More often than the pooler has connections, so that each meets what others left there.
    let lists = (0..40).map(|_| request(api.addr, "GET", "/v1/tasks", &headers, b""));
    for list in futures::future::join_all(lists).await {
        assert_eq!(list.status, 200, "{list:?}");
        assert_eq!(list.json()["data"][0]["id"], stored.json()["id"]);
    }
    assert_eq!(request(api.addr, "GET", "/readyz", &[], b"").await.status, 200);
}
