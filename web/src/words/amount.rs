//! Amounts: bytes, counts, money.

/// `1.5 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // Tenths of the unit, rounded down: never more than there is.
    let (mut tenths, mut unit) = (u128::from(bytes) * 10 / 1024, 0);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    if tenths >= 1000 {
        format!("{} {name}", tenths / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

/// Digits in groups of three, with narrow spaces that do not break: `1 234 567`.
pub(crate) fn count(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let sign = if count < 0 { "\u{2212}" } else { "" };
    let mut text = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Micro-units of a currency: `12.34 EUR`; small amounts keep the digits that are not zero.
pub(crate) fn money(micros: i64, currency: &str) -> String {
    let sign = if micros < 0 { "\u{2212}" } else { "" };
    let (whole, part) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let digits = format!("{part:06}");
    let shown = if whole == 0 { digits.trim_end_matches('0') } else { &digits[..2] };
    let whole = count(i64::try_from(whole).unwrap_or(i64::MAX));
    format!("{sign}{whole}.{shown:0<2} {currency}")
}

/// A part of a whole in percent, at most 100; 0 of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    u64::try_from(u128::from(part) * 100 / u128::from(whole)).unwrap_or(100).min(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units_and_as_many_digits_as_help() {
        assert_eq!(
            [0, 1023, 1024, 1536, 200 * 1024, 5 << 30].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "200 KiB", "5.0 GiB"]
        );
        assert_eq!(
            [0, 999, 1000, -1_234_567].map(count),
            ["0", "999", "1\u{202f}000", "\u{2212}1\u{202f}234\u{202f}567"]
        );
        for (micros, wanted) in [
            (0, "0.00 EUR"),
            (12_345_678, "12.34 EUR"),
            (340, "0.00034 EUR"),
            (500_000, "0.50 EUR"),
            (-2_000_000, "\u{2212}2.00 EUR"),
        ] {
            assert_eq!(money(micros, "EUR"), wanted);
        }
        assert_eq!([ratio(1, 3), ratio(5, 0), ratio(9, 3)], [33, 0, 100]);
    }
}
