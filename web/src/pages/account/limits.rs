//! `GET /account`: the plan, its limits, and what is used of them.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::listing::Tab;
use crate::svg::Gauge;
use crate::visit::Visit;
use crate::words::{Mark, bytes, count, mark_of, ratio};
use actix_web::HttpResponse;
use api_types::Limits;
use askama::Template;
use domain::access::Permission;
use domain::plan::Quota;

#[derive(Template)]
#[template(path = "account/limits.html")]
struct LimitsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    plan: String,
    state: Mark,
    facts: Vec<(&'static str, String)>,
    uses: Vec<Use>,
}

struct Use {
    name: String,
    text: String,
    gauge: Gauge,
    percent: u64,
}

/// Shows it; who may not see limits is led to what they may see.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let tabs = tabs(&visit);
    if !visit.may(Permission::ReadUsage) {
        let first = tabs.into_iter().next().map(|(href, ..)| href);
        return Err(first.map_or(
            Fault::NotAllowed(crate::needs::Needs::May(Permission::ReadUsage)),
            Fault::to,
        ));
    }
    let limits: Limits = visit.get("/v1/limits").await?;
    let amount = |amount: u64| count(i64::try_from(amount).unwrap_or(i64::MAX));
    let mut uses: Vec<Use> = Vec::new();
    for quota in &limits.quotas {
        let show =
            |n: u64| if quota.name == Quota::StoredOutputBytes { bytes(n) } else { amount(n) };
        let percent = ratio(quota.used, quota.limit);
        let text = format!("{} of {}", show(quota.used), show(quota.limit));
        uses.push(Use {
            name: words(&quota.name.to_string()),
            text,
            gauge: Gauge(percent),
            percent,
        });
    }
    for rate in &limits.rates {
        let percent = ratio(rate.used, rate.limit);
        let text = format!("{} of {}", amount(rate.used), amount(rate.limit));
        uses.push(Use {
            name: words(&rate.name.to_string()),
            text,
            gauge: Gauge(percent),
            percent,
        });
    }
    let hour = match limits.submits_per_hour {
        0 => "no limit".to_owned(),
        hour => format!("{} an hour", count(hour.into())),
    };
    let facts = vec![
        (
            "Submits",
            format!(
                "{} a second, {} at once, {hour}",
                count(limits.submits_per_second.into()),
                count(limits.submit_burst.into())
            ),
        ),
        ("Largest task", bytes(limits.payload_bytes as u64)),
        ("Ended tasks are kept", format!("{} days", limits.retention_days)),
        ("Share of a full pool", format!("weight {}", limits.weight)),
    ];
    page(&LimitsPage {
        frame: Frame::new(&visit, Section::Account, "Account"),
        tabs,
        plan: limits.plan.map_or_else(|| "none".to_owned(), |plan| plan.to_string()),
        state: mark_of(&limits.state.to_string()),
        facts,
        uses,
    })
}

fn words(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}
