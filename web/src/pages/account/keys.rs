//! `/account/keys`: API keys, and revoking one.

use super::tabs::tabs;
use crate::backend::Method;
use crate::confirm::Confirm;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::listing::{Cell, Listing, asked};
use crate::visit::{Visit, in_path};
use crate::words::{Ago, Moment};
use actix_web::HttpResponse;
use api_types::{ApiKey, Page};
use runtime::clock::wall;
use serde_json::Value;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let keys: Page<ApiKey> = visit.get(asked(&visit, "/v1/keys", &[])).await?;
    let now = wall();
    let columns = [
        ("Key", false),
        ("Scopes", true),
        ("Last used", true),
        ("Expires", true),
        ("Replace", false),
        ("End", false),
    ];
    let empty =
        ("No API keys", "Make one here, or with: berth keys create --name NAME --scope submit");
    let frame = Frame::new(&visit, Section::Account, "API keys");
    let mut list = Listing::new(frame, &columns, empty);
    list.tabs = tabs(&visit);
    list.acts = vec![("/account/keys/new".to_owned(), "New API key")];
    list.rows = keys.data.iter().map(|key| row(key, now)).collect();
    list.paged(&visit, &[], keys.next_cursor.map(|cursor| cursor.to_string())).show()
}

fn row(key: &ApiKey, now: domain::time::Timestamp) -> Vec<Cell> {
    let scopes: Vec<String> = key.scopes.iter().map(ToString::to_string).collect();
    let id = key.id.to_string();
    vec![
        Cell::Two(key.name.clone(), id.clone()),
        Cell::Text(scopes.join(", ")),
        key.last_used_at.map_or(Cell::Text("never".to_owned()), |at| Cell::Ago(Ago { at, now })),
        key.expires_at.map_or(Cell::Text("never".to_owned()), |at| Cell::At(Moment(at))),
        match &key.replaced_by {
            Some(new) => Cell::Two("replaced".to_owned(), format!("by {new}")),
            None => Cell::Link(
                format!("/account/keys/{}/rotate", in_path(&id)),
                format!("Rotate {}", key.name),
            ),
        },
        Cell::Link(
            format!("/account/keys/{}/revoke", in_path(&id)),
            format!("Revoke {}", key.name),
        ),
    ]
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let id = visit.part("id");
    let frame = Frame::new(&visit, Section::Account, "Revoke this key?");
    let says = format!(
        "Whatever uses the key {id} is refused within two seconds. It cannot be taken back."
    );
    let action = format!("/account/keys/{}/revoke", in_path(&id));
    page(&Confirm {
        frame,
        says,
        action,
        back: "/account/keys".to_owned(),
        button: "Revoke the key",
    })
}

/// Revokes it.
pub(crate) async fn revoke(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/keys/{}", visit.part_in_path("id"));
    let _revoked: Value = visit.act(Method::Delete, target).await?;
    Err(Fault::to("/account/keys?done=revoked"))
}
