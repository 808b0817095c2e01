//! Keys: where they are, and where they are not.

use crate::server::Server;
use crate::terraform::Folder;
use serde_json::json;
use std::fs;

fn holds(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// All files of the folder but `key`.
fn searched(folder: &Folder, except: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(&folder.path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.file_name().is_none_or(|name| name != except) {
            bytes.extend(fs::read(path).unwrap());
        }
    }
    bytes
}

pub fn keys_are_in_no_state_plan_or_log_and_rotate(server: &Server) {
    let mut folder = Folder::example(server, "berth_api_key");
    folder.replace("Acme Keys", "Acme Secrets");
    folder.environment.insert("TF_LOG".to_owned(), "TRACE".to_owned());
    folder.environment.insert("TF_LOG_PATH".to_owned(), "trace.log".to_owned());
    folder.apply();
    let read = || fs::read_to_string(folder.path.join("ci.key")).unwrap().trim().to_owned();
    let first = read();
    assert!(first.starts_with("berth_") && server.with(&first).get("v1/tasks").is_ok());
    folder.replace("2027-1", "2027-2");
    folder.plan_bytes();
    folder.apply();
    let second = read();
    assert_ne!(first, second, "the key was not rotated");
    for key in [&first, &second] {
        assert!(server.with(key).get("v1/tasks").is_ok(), "both keys work for the overlap");
    }
    let plan = folder.plan_bytes();
    let files = searched(&folder, "ci.key");
    let log = fs::metadata(folder.path.join("trace.log")).unwrap().len();
    assert!(log > 100_000, "the log of {log} bytes is none at TRACE");
    for key in [&first, &second, &server.operator_key, &server.api_key] {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!holds(&files, secret), "a key's bytes are in the state or in the log");
        assert!(!holds(&plan, secret), "a key's bytes are in the plan");
    }
    folder.destroy();
    for key in [&first, &second] {
        // Within two seconds, in every process.
        let began = std::time::Instant::now();
        while server.with(key).get("v1/tasks").is_ok() {
            assert!(began.elapsed().as_secs() < 20, "a key works after its end");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    // Of a provider that is configured with a key of the same command.
    let mut folder = Folder::example(server, "ephemeral_berth_api_key");
    folder.replace("\"Acme\"", "\"Acme Ephemeral\"");
    folder.environment.insert("TF_LOG".to_owned(), "TRACE".to_owned());
    folder.environment.insert("TF_LOG_PATH".to_owned(), "trace.log".to_owned());
    folder.apply();
    let plan = folder.plan_bytes();
    let files = searched(&folder, "");
    // The prefix of every key, with an id and a secret behind it.
    for bytes in [&plan, &files] {
        let text = String::from_utf8_lossy(bytes);
        let found = text.match_indices("berth_live_").find(|(at, _)| {
            text.as_bytes()[at + 11..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count()
                == 12
        });
        assert!(found.is_none(), "a key is in the state, the plan or the log");
    }
    folder.environment.remove("TF_LOG");
    let tenant =
        folder.resources().into_iter().find(|(kind, ..)| kind == "berth_tenant").unwrap().2;
    let path = format!("v1/admin/tenants/{}/keys", tenant["id"].as_str().unwrap());
    let keys = server.operator().get(&path).unwrap();
    assert_eq!(keys["data"], json!([]), "a key of a command is left");
    folder.destroy();
}

pub fn the_rest_of_a_lost_key_is_revoked(server: &Server) {
    let operator = server.operator();
    let body = json!({"name": "lost", "scopes": ["read"]});
    let lost = operator.post("v1/admin/operator-keys", &body);
    let folder = Folder::new(
        server,
        "lost",
        "resource \"berth_operator_key\" \"a\" {\n  name   = \"lost\"\n  scopes = [\"read\"]\n}\n",
    );
    folder.apply();
    let keys = operator.get("v1/admin/operator-keys").unwrap();
    let ids: Vec<_> = keys["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["name"] == "lost")
        .map(|key| key["id"].clone())
        .collect();
    assert_eq!(ids.len(), 1, "the key is there once");
    assert_ne!(ids[0], lost["id"], "a key whose text is lost is kept");
    // One that was used is somebody's.
    let other =
        operator.post("v1/admin/operator-keys", &json!({"name": "used", "scopes": ["read"]}));
    let used = other["key"].as_str().unwrap();
    assert!(server.with(used).get("v1/admin/plans").is_ok());
    let seen = || {
        let keys = operator.get("v1/admin/operator-keys").unwrap();
        let key = keys["data"]
            .as_array()
            .unwrap()
            .iter()
            .find(|key| key["name"] == "used")
            .cloned()
            .unwrap();
        !key["last_used_at"].is_null()
    };
    let began = std::time::Instant::now();
    while !seen() {
        assert!(began.elapsed().as_secs() < 90, "the use of a key is not seen");
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    folder.replace("\"lost\"", "\"used\"");
    let said = folder.run(&["apply", "-auto-approve"]);
    assert!(said.code == 1 && said.says("exists already"), "{}", said.text);
    assert!(server.with(used).get("v1/admin/plans").is_ok(), "a key in use was revoked");
    operator.delete(&format!("v1/admin/operator-keys/{}", other["id"].as_str().unwrap()));
    folder.destroy();
}
