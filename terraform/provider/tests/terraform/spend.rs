//! Spend caps, and how tenants are billed.

use crate::examples::imported;
use crate::server::Server;
use crate::terraform::Folder;
use serde_json::{Value as Json, json};

pub fn all_but_the_amount_of_a_cap_replaces_it(server: &Server) {
    let (path, tenant) = ("v1/spend-caps/capped", server.tenant());
    let folder = Folder::new(
        server,
        "capped",
        r#"
        resource "berth_spend_cap" "a" {
          name     = "capped"
          amount   = 1000
          currency = "EUR"
          period   = "month"
          label    = { key = "team", value = "ml" }
        }
        "#,
    );
    folder.apply();
    folder.is_done();
    let made = tenant.get(path).unwrap();
    assert_eq!(
        (&made["amount"], &made["zone"], &made["label"]["value"]),
        (&json!(1000), &json!("UTC"), &json!("ml"))
    );
    // Its amount: the same cap.
    folder.replace("= 1000", "= 2e3");
    let said = folder.plan();
    assert!(said.says("0 to add, 1 to change, 0 to destroy"), "{}", said.text);
    folder.apply();
    folder.is_done();
    let changed = tenant.get(path).unwrap();
    assert_eq!((&changed["amount"], &changed["version"]), (&json!(2000), &json!(2)));
    assert_eq!(changed["created_at"], made["created_at"]);
    // A plan that is late.
    folder.replace("= 2e3", "= 3000");
    folder.must(&["plan", "-out=late.plan"]);
    let label = json!({"key": "team", "value": "ml"});
    let other = json!({"amount": 5, "currency": "EUR", "period": "month", "label": label});
    tenant.put(path, &other);
    let said = folder.run(&["apply", "late.plan"]);
    assert!(said.code == 1 && said.says("412 version_mismatch"), "{}", said.text);
    assert_eq!(tenant.get(path).unwrap()["amount"], 5, "the other change is lost");
    folder.apply();
    // Everything else: another cap.
    for (from, to) in [
        ("\"month\"", "\"day\""),
        ("\"EUR\"", "\"USD\""),
        ("\"ml\"", "\"web\""),
        ("label    = { key = \"team\", value = \"web\" }", "schedule = \"nightly\""),
        ("schedule = \"nightly\"", "zone = \"Europe/Berlin\""),
    ] {
        folder.replace(from, to);
        let said = folder.plan();
        assert!(said.says("1 to add, 0 to change, 1 to destroy"), "{to}:\n{}", said.text);
        folder.apply();
        folder.is_done();
        assert_eq!(tenant.get(path).unwrap()["version"], 1, "{to}");
    }
    imported(&folder);
    folder.destroy();
    assert_eq!(tenant.get(path), Err(404));
}

pub fn how_a_tenant_is_billed_is_set_and_set_back(server: &Server) {
    let folder = Folder::new(
        server,
        "tenant-billing",
        r#"
        resource "berth_tenant" "a" {
          name                = "Tenant Billing"
          deletion_protection = false
        }
        resource "berth_tenant_billing" "a" {
          tenant   = berth_tenant.a.id
          zone     = "Europe/Berlin"
          customer = "cus_1"
          address  = <<-TEXT
            Hafenstr. 1
            Hamburg
          TEXT
        }
        "#,
    );
    folder.apply();
    folder.is_done();
    let resources = folder.resources();
    let id = resources.iter().find(|(kind, ..)| kind == "berth_tenant").unwrap().2["id"].clone();
    let path = format!("v1/admin/tenants/{}/billing", id.as_str().unwrap());
    let operator = server.operator();
    let billed = || -> [Json; 3] {
        let billing = operator.get(&path).unwrap();
        ["zone", "customer", "address"].map(|name| billing[name].clone())
    };
    let wanted = [json!("Europe/Berlin"), json!("cus_1"), json!("Hafenstr. 1\nHamburg\n")];
    assert_eq!(billed(), wanted);
    folder.replace("Europe/Berlin", "europe/berlin");
    folder.is_done();
    // By another hand.
    operator.put(&path, &json!({"zone": "Asia/Tokyo", "customer": "cus_1"}));
    let changes = folder.changes();
    assert!(changes.contains("zone") && changes.contains("address"), "{changes:?}");
    folder.apply();
    folder.is_done();
    assert_eq!(billed(), wanted);
    imported(&folder);
    // What is set already is not overwritten by a creation.
    folder.must(&["state", "rm", "berth_tenant_billing.a"]);
    folder.replace("cus_1", "cus_2");
    let said = folder.run(&["apply", "-auto-approve"]);
    assert!(
        said.code == 1 && said.says("It is set already how this tenant is billed"),
        "{}",
        said.text
    );
    folder.replace("cus_2", "cus_1");
    folder.apply();
    folder.is_done();
    // Set back.
    folder.must(&["destroy", "-auto-approve", "-target=berth_tenant_billing.a"]);
    assert_eq!(billed(), [json!("UTC"), Json::Null, Json::Null]);
    // Of a deleted tenant it stays: its last months are billed by it.
    folder.apply();
    folder.must(&["state", "rm", "berth_tenant.a"]);
    let id = id.as_str().unwrap();
    let text = std::fs::read_to_string(folder.path.join("main.tf")).unwrap();
    let of_billing = text.split_once("resource \"berth_tenant_billing\"").unwrap().1;
    folder.configure(&format!("resource \"berth_tenant_billing\"{of_billing}"));
    folder.replace("berth_tenant.a.id", &format!("\"{id}\""));
    folder.is_done();
    operator.delete(&format!("v1/admin/tenants/{id}"));
    folder.destroy();
    assert_eq!(billed(), wanted);
}
