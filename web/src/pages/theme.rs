//! `POST /theme`: light, dark, or as the system has it.

use super::sign_in::{own_path, with_cookie};
use crate::fault::Fault;
use crate::frame::{THEME, theme};
use crate::visit::Visit;
use actix_web::HttpResponse;

/// A year, seconds.
const LIFE: u32 = 365 * 24 * 3600;

/// Keeps the choice.
pub(crate) async fn keep(visit: Visit) -> Result<HttpResponse, Fault> {
    let chosen = theme(visit.form.get("theme"));
    let life = if chosen.is_empty() { 0 } else { LIFE };
    let secure = if visit.is_secure() { "; Secure" } else { "" };
    let cookie =
        format!("{THEME}={chosen}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}");
    with_cookie(own_path(visit.form.get("back")), &cookie)
}
