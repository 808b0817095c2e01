//! Each example of the documentation, from its apply to its end.

use crate::server::Server;
use crate::terraform::{EXAMPLES, Folder, import_id};
use std::fs;

/// What the API does not know, so that an import cannot know it either.
const LOCAL: [&str; 4] = ["timeouts", "deletion_protection", "rotate_when_changed", "overlap"];

fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(EXAMPLES)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 23, "{names:?}");
    names
}

/// `terraform test` with the file beside it, which applies it, asserts, and destroys it.
pub fn each_example_passes_its_own_test(server: &Server) {
    for name in names() {
        let folder = Folder::example(server, &name);
        let file = "example.tftest.hcl";
        fs::copy(format!("{EXAMPLES}/{name}/{file}"), folder.path.join(file)).unwrap();
        let said = folder.must(&["test"]);
        assert!(said.contains("Success! 1 passed, 0 failed."), "{name}:\n{said}");
        fs::remove_dir_all(&folder.path).unwrap();
    }
    nothing_is_left(server);
}

pub fn each_example_lives_and_leaves_nothing(server: &Server) {
    for name in names() {
        let folder = Folder::example(server, &name);
        folder.apply();
        folder.is_done();
        if name.starts_with("berth_") {
            imported(&folder);
        }
        folder.destroy();
    }
    nothing_is_left(server);
}

fn nothing_is_left(server: &Server) {
    let plans = server.operator().get("v1/admin/plans").unwrap();
    let names: Vec<_> =
        plans["data"].as_array().unwrap().iter().map(|plan| &plan["name"]).collect();
    assert_eq!(names, ["default", "free"], "plans are left");
    let books = server.operator().get("v1/admin/price-books").unwrap();
    assert_eq!(books["data"], serde_json::json!([]), "price books are left");
    let caps = server.tenant().get("v1/spend-caps").unwrap();
    assert_eq!(caps["data"], serde_json::json!([]), "spend caps are left");
    let webhooks = server.tenant().get("v1/webhooks").unwrap();
    assert_eq!(webhooks["data"], serde_json::json!([]), "webhooks are left");
}

/// Into an empty state: the plan is empty, but for what only Terraform knows.
pub fn imported(folder: &Folder) {
    let before = folder.resources();
    for (kind, name, attributes) in &before {
        let address = format!("{kind}.{name}");
        folder.must(&["state", "rm", &address]);
        // Takes no -no-color after its arguments.
        folder.must(&["import", &address, &import_id(kind, attributes)]);
    }
    let changes = folder.changes();
    let known: Vec<_> = changes.iter().filter(|name| !LOCAL.contains(&name.as_str())).collect();
    assert!(known.is_empty(), "after the import of {before:?} the plan changes {known:?}");
    folder.apply();
    folder.is_done();
    let ids = |resources: Vec<(String, String, serde_json::Value)>| -> Vec<_> {
        resources
            .into_iter()
            .map(|(kind, name, attributes)| (kind, name, attributes["id"].clone()))
            .collect()
    };
    assert_eq!(ids(before), ids(folder.resources()), "an import made another object");
}
