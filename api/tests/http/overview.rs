//! `GET /v1/overview` as it is answered.

use crate::server::Server;
use serde_json::json;

#[tokio::test]
async fn the_overview_counts_what_is_live_by_state_and_what_has_ended() {
    let server = Server::start().await;
    let (cancelled, _) = (server.noop().await, server.noop().await);
    assert_eq!(server.post(&format!("/v1/tasks/{cancelled}/cancel"), "").await.status, 200);
    let shown = server.get("/v1/overview").await.json();
    assert_eq!(
        shown["live"],
        json!({"tasks": 1, "is_complete": true, "states": [{"state": "ready", "tasks": 1}], "overdue": 0})
    );
    let recent = &shown["recent"];
    assert_eq!([&recent["tasks"], &recent["succeeded"], &recent["failed"]], [1, 0, 0]);
    assert_eq!((&recent["wait"], &shown["nearly_used"]), (&json!(null), &json!([])));
    assert_eq!(shown["state"], "active");
    assert_eq!(server.get("/v1/overview?x=1").await.status, 400);
}
