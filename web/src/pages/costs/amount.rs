//! Amounts of money as people enter them.

/// A decimal number as micro-units: `12.5` is 12 500 000.
///
/// # Errors
/// What is wanted instead.
pub(super) fn micros(text: &str) -> Result<i64, &'static str> {
    const WANTED: &str = "must be an amount such as 100 or 5.50, with six decimals at most";
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(WANTED);
    }
    let part = format!("{part:0<6}");
    let sum = whole.parse::<i64>().ok().and_then(|whole| whole.checked_mul(1_000_000));
    let sum = sum.zip(part.parse::<i64>().ok()).and_then(|(whole, part)| whole.checked_add(part));
    sum.ok_or(WANTED)
}

/// The same as a field shows it.
pub(super) fn decimal(micros: i64) -> String {
    let part = format!("{:06}", micros.unsigned_abs() % 1_000_000);
    let part = part.trim_end_matches('0');
    let sign = if micros < 0 { "-" } else { "" };
    let whole = micros.unsigned_abs() / 1_000_000;
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0<2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_to_the_last_unit() {
        for (text, wanted) in [("100", 100_000_000), ("5.50", 5_500_000), ("0.000001", 1), ("0", 0)]
        {
            assert_eq!(micros(text), Ok(wanted), "{text}");
        }
        for text in ["", "-1", "1,5", "1.", "x", "0.0000001", ".5", "99999999999999999999", "1e3"] {
            assert_eq!(micros(text).is_ok(), text == "1.", "{text}");
        }
        assert_eq!(
            [100_000_000, 5_500_000, 1, -500_000].map(decimal),
            ["100", "5.50", "0.000001", "-0.50"]
        );
    }
}
