//! `GET /assets/{file}`: styles, script, icon.

use crate::assets;
use crate::fault::Fault;
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::header::ACCEPT_ENCODING;

/// Answers with a file.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let accepted = visit.http.headers().get(ACCEPT_ENCODING);
    let gzip = accepted.and_then(|value| value.to_str().ok()).is_some_and(|it| it.contains("gzip"));
    assets::find(&visit.part("file"), gzip).ok_or(Fault::NoPage)
}
