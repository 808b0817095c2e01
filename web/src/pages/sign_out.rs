//! `POST /sign-out`: ends the sign-in at the API, and has the browser forget its cookie.

use super::sign_in::with_cookie;
use crate::backend::Method;
use crate::fault::Fault;
use crate::session::{Holder, forget};
use crate::visit::Visit;
use actix_web::HttpResponse;
use api_types::SignedOut;

/// Signs out. What the API says of it changes nothing here: a sign-in that it could not end is over when its tokens are.
pub(crate) async fn leave(visit: Visit) -> Result<HttpResponse, Fault> {
    if matches!(visit.session.holder, Holder::User { .. }) {
        let _over: Result<SignedOut, Fault> = visit.act(Method::Delete, "/v1/sessions").await;
    }
    with_cookie("/sign-in?done=signed-out", &forget(visit.is_secure()))
}
