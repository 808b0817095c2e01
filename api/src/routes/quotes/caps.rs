//! What a subject would leave of spend caps, and which would refuse some of it: item by item, as they reserve.

use super::price::Priced;
use super::subject::{Item, Subject};
use api_types::QuoteCap;
use domain::price::Micros;
use domain::spend::CapPeriod;
use store::quote::QuoteTerms;
use store::spend_cap::CapRecord;

struct Open {
    record: CapRecord,
    free: Micros,
    left: Micros,
    needs: Micros,
    would_pass: bool,
    /// It is in another currency than the prices.
    is_other: bool,
}

/// The caps that hold for some of `subject`, by name. None where nothing is priced, or it is not known how much there is.
pub(super) fn caps(
    subject: &Subject,
    terms: &QuoteTerms,
    priced: Option<&Priced>,
    held: Vec<CapRecord>,
) -> Vec<QuoteCap> {
    let (Some(book), Some(priced)) = (&terms.book, priced.filter(|priced| priced.most.is_some()))
    else {
        return Vec::new();
    };
    let is_later = subject.month.as_ref().is_some_and(|month| !month.is_present);
    let open = |record: CapRecord| {
        let free = if is_later { record.cap.amount } else { record.used.free };
        let is_other = record.cap.currency != book.book.currency;
        Open { record, free, left: free, needs: Micros(0), would_pass: false, is_other }
    };
    let held =
        held.into_iter().filter(|cap| subject.items.iter().any(|item| has(cap, item, subject)));
    let mut all: Vec<Open> = held.map(open).collect();
    for (item, (most, tasks)) in subject.items.iter().zip(&priced.items) {
        reserve(&mut all, subject, item, *most * *tasks);
    }
    all.into_iter().map(shown).collect()
}

fn has(cap: &CapRecord, item: &Item, subject: &Subject) -> bool {
    let label = |key: &str| item.labels.get(key).map(|value| &**value);
    cap.cap.scope.has(label, subject.schedule.as_deref())
}

/// Takes what an item needs from all its caps, or marks those that have no room for it.
fn reserve(all: &mut [Open], subject: &Subject, item: &Item, once: Micros) {
    let needed = |cap: &Open| {
        let fires = subject.month.as_ref().map_or(Some(1), |month| match cap.record.cap.period {
            CapPeriod::Month => month.fires,
            CapPeriod::Day => month.busiest_day(&cap.record.cap.zone),
        });
        once * fires.unwrap_or(0)
    };
    let own: Vec<(usize, Micros)> = all
        .iter()
        .enumerate()
        .filter(|(_, cap)| has(&cap.record, item, subject))
        .map(|(place, cap)| (place, needed(cap)))
        .collect();
    let mut refused = false;
    for (place, needs) in &own {
        let Some(cap) = all.get_mut(*place) else { continue };
        cap.needs = cap.needs + *needs;
        if needs.0 > 0 && (cap.left < *needs || cap.is_other) {
            cap.would_pass = true;
            refused = true;
        }
    }
    for (place, needs) in own.iter().filter(|_| !refused) {
        if let Some(cap) = all.get_mut(*place) {
            cap.left = cap.left - *needs;
        }
    }
}

fn shown(open: Open) -> QuoteCap {
    let Open { record, free, needs, would_pass, .. } = open;
    QuoteCap {
        name: record.name.to_string(),
        currency: record.cap.currency.to_string(),
        period: record.cap.period.to_string(),
        amount: record.cap.amount.0,
        free: free.0,
        needs: needs.0,
        leaves: (free - needs).0,
        would_pass,
    }
}
