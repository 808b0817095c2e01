//! What a month of a schedule costs, in words.

use crate::words::{count, money};
use api_types::Quote;

/// The sentences.
pub(super) fn in_words(quote: &Quote) -> Vec<String> {
    let whole = |n: u64| count(i64::try_from(n).unwrap_or(i64::MAX));
    let month = quote.month.as_ref();
    let fires = month.and_then(|month| month.fires);
    let times = fires.map(|fires| format!(" for {} fires", whole(fires))).unwrap_or_default();
    let of = month.map(|month| format!("in {} ({})", month.month, month.zone));
    let of = of.unwrap_or_else(|| "a month".to_owned());
    let mut words = Vec::new();
    match (quote.most, &quote.currency) {
        (Some(most), Some(currency)) => {
            words.push(format!("At most {} {of}{times}.", money(most, currency)));
            if let Some(probable) = &quote.estimate {
                words.push(format!(
                    "Probably {}, by {} attempts like these in the last days.",
                    money(probable.amount, currency),
                    whole(probable.attempts)
                ));
            }
        }
        _ if quote.priced => {
            words.push(format!("Its due times {of} take too long to count, so it has no price."))
        }
        _ => words.push(format!("No prices hold for you: it costs nothing {of}{times}.")),
    }
    for cap in quote.caps.iter().filter(|cap| cap.would_pass) {
        words.push(format!(
            "The spend cap {} would refuse some of it: {} are free, {} are needed in a {}.",
            cap.name,
            money(cap.free, &cap.currency),
            money(cap.needs, &cap.currency),
            cap.period
        ));
    }
    words
}
