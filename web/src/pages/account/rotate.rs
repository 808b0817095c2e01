//! `/account/keys/{id}/rotate`: a new key in the place of one; both are good for a while.

use super::new_key::MadeKeyPage;
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use crate::words::Moment;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::RotatedApiKey;
use askama::Template;
use serde_json::json;

/// For how long the old one can stay good: hours and words.
const OVERLAPS: [(&str, &str); 4] =
    [("24h", "one day"), ("1h", "one hour"), ("168h", "a week"), ("0s", "not at all")];

#[derive(Template)]
#[template(path = "account/rotate.html")]
struct RotatePage {
    frame: Frame,
    id: String,
    path: String,
    once: String,
    overlaps: [(&'static str, &'static str); 4],
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let id = visit.part("id");
    page(&RotatePage {
        frame: Frame::new(&visit, Section::Account, "Rotate this key?"),
        path: format!("/account/keys/{}/rotate", in_path(&id)),
        id,
        once: visit.once(),
        overlaps: OVERLAPS,
    })
}

/// Makes the new one, and shows it once.
pub(crate) async fn rotate(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/keys/{}/rotate", visit.part_in_path("id"));
    let overlap = visit.form.get("overlap").unwrap_or("24h");
    let RotatedApiKey { new, old } =
        visit.send(Method::Post, target, &json!({"overlap": overlap})).await?;
    let old = (old.id.to_string(), old.expires_at.map(Moment));
    page_with(StatusCode::CREATED, &MadeKeyPage::of(&visit, new, Some(old)))
}
