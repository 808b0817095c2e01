//! Webhooks: their secrets are in no state, plan or log, and all but a name changes in place.

use crate::examples::imported;
use crate::server::Server;
use crate::terraform::Folder;
use serde_json::json;
use std::fs;

pub fn a_webhook_changes_in_place_and_its_secret_is_in_no_state(server: &Server) {
    let (path, tenant) = ("v1/webhooks/hooked", server.tenant());
    let mut folder = Folder::example(server, "berth_webhook");
    folder.replace("\"ops\"", "\"hooked\"");
    folder.environment.insert("TF_LOG".to_owned(), "TRACE".to_owned());
    folder.environment.insert("TF_LOG_PATH".to_owned(), "trace.log".to_owned());
    folder.apply();
    folder.is_done();
    let secret = fs::read_to_string(folder.path.join("webhook.secret")).unwrap();
    let secret = secret.trim().strip_prefix("whsec_").unwrap().to_owned();
    let mut files = folder.plan_bytes();
    for file in ["terraform.tfstate", "trace.log"] {
        files.extend(fs::read(folder.path.join(file)).unwrap());
    }
    let holds = files.windows(secret.len()).any(|window| window == secret.as_bytes());
    assert!(files.len() > 10_000 && !holds, "the secret is in the state, the plan or the log");
    let made = tenant.get(path).unwrap();
    assert_eq!(made["labels"], json!({"team": "ml"}));
    assert_eq!(tenant.get("v1/webhooks/chat").unwrap()["payload"]["text"]["$event"], "/type");
    // The order of types does not count; another URL does.
    folder.replace(
        r#"["berth.task.failed", "berth.spend_cap.*"]"#,
        r#"["berth.spend_cap.*", "berth.task.failed"]"#,
    );
    folder.is_done();
    folder.replace("https://hooks.example.com/berth", "https://hooks.example.com/other");
    let said = folder.plan();
    assert!(said.says("0 to add, 1 to change, 0 to destroy"), "{}", said.text);
    folder.apply();
    folder.is_done();
    let changed = tenant.get(path).unwrap();
    assert_eq!((&changed["version"], &changed["created_at"]), (&json!(2), &made["created_at"]));
    // By another hand.
    tenant.put(path, &json!({"url": "https://hooks.example.com/other", "paused": true}));
    let changes = folder.changes();
    assert!(changes.contains("paused") && changes.contains("events"), "{changes:?}");
    folder.apply();
    folder.is_done();
    imported(&folder);
    folder.destroy();
    assert_eq!(tenant.get(path), Err(404));
}
