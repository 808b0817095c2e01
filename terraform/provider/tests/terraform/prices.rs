//! Price books, and plans that name one. What a plan has named stays: each test has names of its own.

use crate::examples::imported;
use crate::server::Server;
use crate::terraform::Folder;
use serde_json::{Value as Json, json};

fn book(name: &str) -> String {
    format!(
        r#"
        resource "berth_price_book" "a" {{
          name     = "{name}"
          currency = "EUR"
          prices   = [{{ effective_from = "2026-01-01T00:00:00+01:00", rates = {{ cpu_core = 40000 }} }}]
        }}
        "#
    )
}

/// The plan's limits as they are, without prices, by another hand.
fn ends_billing(server: &Server, path: &str) {
    let mut plan = server.operator().get(path).unwrap();
    let fields = plan.as_object_mut().unwrap();
    fields.retain(|name, _| {
        !["name", "version", "created_at", "updated_at"].contains(&name.as_str())
    });
    fields.insert("billing".to_owned(), Json::Null);
    server.operator().put(path, &plan);
}

pub fn a_plan_is_billed_as_configured_and_its_price_book_stays(server: &Server) {
    let (path, billing) = (
        "v1/admin/plans/billed",
        "billing = { price_book = berth_price_book.a.name, minimum = 5 }",
    );
    let plan = format!("resource \"berth_plan\" \"a\" {{\n  name = \"billed\"\n  {billing}\n}}\n");
    let folder = Folder::new(server, "billed", &(book("billed") + &plan));
    folder.replace("berth_price_book.a.name", "\"nowhere\"");
    let said = folder.run(&["apply", "-auto-approve"]);
    assert!(said.code == 1 && said.says("/billing/price_book: There is no price"), "{}", said.text);
    folder.replace("\"nowhere\"", "berth_price_book.a.name");
    folder.apply();
    folder.is_done();
    let billed = || server.operator().get(path).unwrap()["billing"].clone();
    let included = json!({"attempts": 0, "tasks": 0, "fires": 0});
    let mut wanted = json!({"price_book": "billed", "included": included, "minimum": 5});
    assert_eq!(billed(), wanted);
    imported(&folder);
    ends_billing(server, path);
    assert!(folder.changes().contains("billing"), "the end of billing is not seen");
    folder.replace("minimum = 5", "included = { tasks = 9 }");
    folder.apply();
    folder.is_done();
    (wanted["included"]["tasks"], wanted["minimum"]) = (json!(9), json!(0));
    assert_eq!(billed(), wanted);
    folder.replace(&billing.replace("minimum = 5", "included = { tasks = 9 }"), "");
    folder.apply();
    folder.is_done();
    assert_eq!(billed(), Json::Null, "a plan without billing is billed");
    let said = folder.run(&["destroy", "-auto-approve"]);
    assert!(said.code == 1, "{}", said.text);
    assert!(said.says("A plan names the price book `billed`, or has named it"), "{}", said.text);
    assert!(said.says("(409 conflict)"), "{}", said.text);
    let left = folder.resources();
    assert!(left.len() == 1 && left[0].0 == "berth_price_book", "{left:?}");
    // Left to the server, as docs/terraform.md says.
    folder
        .configure("removed {\n  from = berth_price_book.a\n  lifecycle { destroy = false }\n}\n");
    folder.apply();
    folder.destroy();
    assert!(server.operator().get("v1/admin/price-books/billed").is_ok());
}

pub fn prices_in_effect_are_refused_by_the_plan(server: &Server) {
    let folder = Folder::new(server, "in-effect", &book("in-effect"));
    folder.apply();
    for (from, to, words) in [
        ("40000", "40001", "/prices/0: must be as they are stored"),
        ("+01:00", "+02:00", "/prices/0: must be as they are stored"),
        (
            "} }]",
            "} }, { effective_from = \"2026-02-01T00:00:00Z\" }]",
            "/prices/1/effective_from: must be after",
        ),
    ] {
        folder.replace(from, to);
        let said = folder.plan();
        assert!(said.code == 1 && said.says(words), "{}", said.text);
        assert!(said.says("on main.tf line"), "no place is named:\n{}", said.text);
        folder.replace(to, from);
    }
    folder.replace("} }]", "} }, { effective_from = \"2037-01-01T00:00:00Z\" }]");
    folder.apply();
    folder.is_done();
    // Another currency is another book.
    folder.replace("EUR", "USD");
    let said = folder.plan();
    assert!(said.says("1 to add, 0 to change, 1 to destroy"), "{}", said.text);
    folder.apply();
    folder.destroy();
}
