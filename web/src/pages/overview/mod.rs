//! `GET /`: what runs, what waits, what needs attention, what failed and why, what it costs.

mod attention;
mod failures;
mod money;
mod now;

use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::Visit;
use actix_web::HttpResponse;
use askama::Template;
use domain::access::Permission;
use money::Money;
use now::Now;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    now: Now,
    money: Option<Money>,
    may_submit: bool,
}

/// Shows the overview, or the part of it that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    if visit.is_operator() {
        return Err(Fault::to("/operators"));
    }
    if visit.fragment().is_some() {
        return page(&now::read(&visit).await?);
    }
    let (now, money) = futures::join!(now::read(&visit), money::read(&visit));
    page(&OverviewPage {
        frame: Frame::new(&visit, Section::Overview, "Overview"),
        now: now?,
        money,
        may_submit: visit.may(Permission::SubmitTasks),
    })
}
