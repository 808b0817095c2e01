//! What needs attention: quotas nearly used, due times that were missed, schedules that were paused, caps that are full.

use crate::visit::in_path;
use crate::words::{Ago, money, ratio};
use api_types::{LimitWarning, LimitWarningKind, Overview, SpendCap};
use chrono::TimeDelta;
use domain::time::Timestamp;
use serde_json::Value;

/// Warnings that are older are history.
const DAYS: i64 = 2;

/// One thing to look at.
#[derive(Debug, Clone)]
pub(crate) struct Matter {
    /// `bad` or `warn`.
    pub tone: &'static str,
    pub what: String,
    pub href: String,
    pub when: Option<Ago>,
}

/// What of a tenant needs attention.
pub(crate) fn of_overview(overview: &Overview, now: Timestamp) -> Vec<Matter> {
    let mut matters = Vec::new();
    if overview.state.to_string() == "suspended" {
        let what = "Your account is suspended: no task starts. Ask whoever runs this installation.";
        let href = "/account".to_owned();
        matters.push(Matter { tone: "bad", what: what.to_owned(), href, when: None });
    }
    matters.extend(overview.nearly_used.iter().map(|quota| {
        let name = quota.to_string().replace('_', " ");
        let what = format!("80 % or more of the quota {name} are used.");
        Matter { tone: "warn", what, href: "/account".to_owned(), when: None }
    }));
    let recent = overview.warnings.iter().filter(|it| it.at > now - TimeDelta::days(DAYS));
    matters.extend(recent.filter_map(|warning| of_warning(warning, now)).take(5));
    matters
}

fn of_warning(warning: &LimitWarning, now: Timestamp) -> Option<Matter> {
    let detail: Value = serde_json::from_str(warning.detail.get()).ok()?;
    let schedule = detail["schedule"].as_str().or_else(|| detail["name"].as_str());
    let named = schedule.map(|name| format!(" `{name}`")).unwrap_or_default();
    let href = schedule
        .map_or_else(|| "/schedules".to_owned(), |name| format!("/schedules/{}", in_path(name)));
    let (tone, what) = match warning.kind.known()? {
        // It is told by the quota itself, while it is so.
        LimitWarningKind::QuotaNearlyUsed => return None,
        LimitWarningKind::FireMissed => {
            ("warn", format!("A due time of the schedule{named} was missed."))
        }
        LimitWarningKind::SchedulePaused => {
            ("bad", format!("The schedule{named} was paused, because its tasks failed."))
        }
    };
    Some(Matter { tone, what, href, when: Some(Ago { at: warning.at, now }) })
}

/// What of the spend caps needs attention.
pub(crate) fn of_caps(caps: &[SpendCap]) -> Vec<Matter> {
    caps.iter().filter_map(of_cap).collect()
}

fn of_cap(cap: &SpendCap) -> Option<Matter> {
    let (amount, free) = (cap.amount.0, cap.free.0);
    let used = u64::try_from(amount.saturating_sub(free)).unwrap_or_default();
    let percent = ratio(used, u64::try_from(amount).unwrap_or_default());
    if percent < 80 {
        return None;
    }
    let currency = cap.currency.to_string();
    let what = format!(
        "The spend cap {} has {} left of {}.",
        cap.name,
        money(free, &currency),
        money(amount, &currency)
    );
    let tone = if percent >= 100 { "bad" } else { "warn" };
    Some(Matter { tone, what, href: "/costs".to_owned(), when: None })
}
