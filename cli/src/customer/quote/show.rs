//! A quote for people: what it costs, of what, and what would be cheaper.

use crate::output::{Details, Table};
use client::{Quote, QuoteCap, QuoteCheaper, QuoteEstimate, QuoteLine, QuoteMonth, QuoteStart};
use domain::price::{Currency, Micros};
use domain::time::format_time;
use std::fmt::Write;

const LINES: [&str; 7] =
    ["NAME", "TASKS", "ATTEMPTS", "AN ATTEMPT", "DISCOUNT", "A TASK", "AT MOST"];
const CHEAPER: [&str; 3] = ["WITH", "AT MOST", "SAVES"];
const CAPS: [&str; 6] = ["SPEND CAP", "PER", "FREE", "NEEDS", "LEAVES", ""];

/// The quote.
pub(super) fn shown(quote: &Quote) -> String {
    let mut text = details(quote);
    let of = |micros: i64| units(micros, quote.currency.as_deref());
    if !quote.lines.is_empty() {
        let mut table = Table::new(LINES);
        quote.lines.iter().for_each(|line| table.row(row(line, &of)));
        write!(text, "\n{}", table.take()).ok();
    }
    if quote.lines_left_out > 0 {
        writeln!(text, "and {} more", quote.lines_left_out).ok();
    }
    if !quote.cheaper.is_empty() {
        let mut table = Table::new(CHEAPER);
        quote.cheaper.iter().for_each(|option| table.row(cheaper(option, quote)));
        write!(text, "\nCheaper\n{}", table.take()).ok();
    }
    if !quote.caps.is_empty() {
        let mut table = Table::new(CAPS);
        quote.caps.iter().for_each(|cap| table.row(of_cap(cap)));
        write!(text, "\n{}", table.take()).ok();
    }
    for rejected in &quote.rejected {
        writeln!(text, "task {} would be refused: {}", rejected.index, rejected.error.detail).ok();
    }
    text
}

fn details(quote: &Quote) -> String {
    let mut details = Details::default();
    let amount = |micros: i64| with_currency(micros, quote.currency.as_deref());
    match quote.most {
        Some(most) => details.row("at most", amount(most)),
        None if quote.priced => {
            details.row("at most", "unknown: its due times take too long to count")
        }
        None => details.row("at most", "your plan has no prices: it costs nothing"),
    }
    if quote.priced {
        details.row("probably", estimate(quote.estimate.as_ref(), &amount));
    }
    details.some("tasks", quote.tasks);
    details.some("month", quote.month.as_ref().map(month));
    details.row("starts", start(&quote.expected_start));
    if let (Some(book), Some(version)) = (&quote.price_book, quote.price_book_version) {
        details.row("prices", format!("{book}, version {version}"));
    }
    details.to_string()
}

fn estimate(estimate: Option<&QuoteEstimate>, amount: &impl Fn(i64) -> String) -> String {
    let Some(QuoteEstimate { amount: likely, like, attempts, .. }) = estimate else {
        return "unknown: nothing like it has ended lately".to_owned();
    };
    format!("{}, by {attempts} attempts of this {like} in the last 7 days", amount(*likely))
}

fn month(month: &QuoteMonth) -> String {
    let QuoteMonth { month, zone, fires, at_most, .. } = month;
    match fires {
        Some(fires) if *at_most => format!("{month} in {zone}, {fires} fires at most"),
        Some(fires) => format!("{month} in {zone}, {fires} fires"),
        None => format!("{month} in {zone}"),
    }
}

fn start(start: &QuoteStart) -> String {
    let QuoteStart { from, to, reason } = start;
    match (from.map(format_time), to.map(format_time)) {
        (Some(from), Some(to)) => format!("{from} to {to}. {reason}"),
        (Some(from), None) => format!("{from} or later. {reason}"),
        (None, Some(to)) => format!("by {to}. {reason}"),
        (None, None) => format!("unknown. {reason}"),
    }
}

fn row(line: &QuoteLine, of: &impl Fn(i64) -> String) -> [String; 7] {
    let name = line.name.clone().or_else(|| line.tier.clone()).unwrap_or_else(|| "-".to_owned());
    let tasks =
        if line.at_most { format!("{} at most", line.tasks) } else { line.tasks.to_string() };
    let discount = line.tolerance_discount.saturating_add(line.flexible_discount);
    let discount = if discount == 0 { "-".to_owned() } else { of(discount) };
    let attempts = line.attempts.to_string();
    let once = line.task.saturating_add(line.fire);
    [name, tasks, attempts, of(line.attempt), discount, of(once), of(line.most)]
}

fn cheaper(option: &QuoteCheaper, quote: &Quote) -> [String; 3] {
    let with = match &option.delay_tolerance {
        Some(tolerance) => format!("--delay-tolerance {tolerance}"),
        None => "--flexible".to_owned(),
    };
    let amount = |micros: i64| with_currency(micros, quote.currency.as_deref());
    let points = option.saving_basis_points;
    let percent = format!("{}.{:02} %", points / 100, points % 100);
    [with, amount(option.most), format!("{} ({percent})", amount(option.saving))]
}

fn of_cap(cap: &QuoteCap) -> [String; 6] {
    let amount = |micros: i64| with_currency(micros, Some(&cap.currency));
    let verdict = if cap.would_pass { "would refuse it" } else { "" };
    let amounts = [cap.free, cap.needs, cap.leaves].map(amount);
    let [free, needs, leaves] = amounts;
    [cap.name.clone(), cap.period.clone(), free, needs, leaves, verdict.to_owned()]
}

fn units(micros: i64, currency: Option<&str>) -> String {
    let digits = currency.and_then(|code| code.parse().ok()).map_or(2, Currency::digits);
    Micros(micros).in_units(digits)
}

fn with_currency(micros: i64, currency: Option<&str>) -> String {
    format!("{} {}", units(micros, currency), currency.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn quote(changes: serde_json::Value) -> Quote {
        let mut quote = json!({
            "at": "2030-01-01T00:00:00Z", "priced": true, "currency": "EUR", "price_book": "eur", "price_book_version": 3,
            "tasks": 2, "most": 60_014, "estimate": {"amount": 1_500, "like": "tier", "attempts": 7, "since": "2029-12-25T00:00:00Z"},
            "month": null, "lines_left_out": 0, "caps": [], "rejected": [],
            "lines": [{"name": "train", "tasks": 2, "at_most": false, "attempts": 1, "tier": "regular",
                "effective_from": "2029-01-01T00:00:00Z", "cpu": 40_000, "memory": 0, "disk": 0, "iops": 0, "ports": 0,
                "rounding": 0, "tolerance_discount": -10_000, "flexible_discount": 0, "attempt": 30_000, "task": 7, "most": 60_014}],
            "cheaper": [{"delay_tolerance": "24h", "flexible": false, "most": 40_014, "saving": 20_000, "saving_basis_points": 3332},
                {"delay_tolerance": null, "flexible": true, "most": 42_014, "saving": 18_000, "saving_basis_points": 2999}],
            "expected_start": {"from": null, "to": null, "reason": "Other tasks must end first."}
        });
        for (field, value) in changes.as_object().unwrap() {
            quote[field] = value.clone();
        }
        serde_json::from_value(quote).unwrap()
    }

    #[test]
    fn amounts_have_their_currency_and_what_is_cheaper_is_a_table() {
        assert_eq!(
            shown(&quote(json!({}))),
            "at most   0.060014 EUR\n\
             probably  0.0015 EUR, by 7 attempts of this tier in the last 7 days\n\
             tasks     2\n\
             starts    unknown. Other tasks must end first.\n\
             prices    eur, version 3\n\
             \n\
             NAME   TASKS  ATTEMPTS  AN ATTEMPT  DISCOUNT  A TASK    AT MOST\n\
             train  2      1         0.03        -0.01     0.000007  0.060014\n\
             \n\
             Cheaper\n\
             WITH                   AT MOST       SAVES\n\
             --delay-tolerance 24h  0.040014 EUR  0.02 EUR (33.32 %)\n\
             --flexible             0.042014 EUR  0.018 EUR (29.99 %)\n"
        );
    }

    #[test]
    fn a_cap_that_would_refuse_it_a_month_and_a_plan_without_prices_are_told() {
        let cap = json!({"name": "ml", "currency": "EUR", "period": "day", "amount": 9, "free": 5_000, "needs": 60_014,
            "leaves": -55_014, "would_pass": true});
        let month = json!({"month": "2030-03", "zone": "Europe/Berlin", "starts_at": "2030-02-28T23:00:00Z",
            "ends_at": "2030-03-31T22:00:00Z", "fires": 743, "at_most": false});
        let text = shown(&quote(json!({"caps": [cap], "month": month, "estimate": null})));
        for part in [
            "2030-03 in Europe/Berlin, 743 fires",
            "unknown: nothing like it",
            "-0.055014 EUR  would refuse it",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let none = json!({"priced": false, "currency": null, "price_book": null, "price_book_version": null, "most": null,
            "estimate": null, "lines": [], "cheaper": []});
        let text = shown(&quote(none));
        assert!(text.starts_with("at most  your plan has no prices"), "{text}");
        assert!(!text.contains("prices  ") && !text.contains("NAME"), "{text}");
    }
}
