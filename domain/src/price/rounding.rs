//! Rounding: half to even, once.

use super::Micros;

/// `numerator / denominator`, rounded half to even, at most the largest amount.
pub(super) fn half_even(numerator: u128, denominator: u128) -> Micros {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    let up = match (rest.saturating_mul(2)).cmp(&denominator) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => whole % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    let rounded = whole.saturating_add(u128::from(up));
    Micros(i64::try_from(rounded).unwrap_or(i64::MAX))
}

/// `part` of `whole` of an amount that is not negative.
pub(super) fn share(amount: Micros, part: u64, whole: u64) -> Micros {
    let amount = u128::from(amount.0.max(0).unsigned_abs());
    half_even(amount * u128::from(part.min(whole)), u128::from(whole.max(1)))
}

impl Micros {
    /// Rounded half to even to the smallest unit of a currency with as many `digits` after the point.
    #[must_use]
    pub fn rounded(self, digits: u16) -> Self {
        let unit = 10_u128.pow(u32::from(6_u16.saturating_sub(digits)));
        let units = half_even(self.0.unsigned_abs().into(), unit);
        let rounded = units.0.saturating_mul(i64::try_from(unit).unwrap_or(i64::MAX));
        Self(if self.0 < 0 { -rounded } else { rounded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_half_to_even_to_the_currencys_smallest_unit() {
        for (micros, digits, rounded) in [
            (5_000, 2, 0),
            (5_001, 2, 10_000),
            (15_000, 2, 20_000),
            (-15_000, 2, -20_000),
            (-5_000, 2, 0),
            (1_500_000, 0, 2_000_000),
            (2_500_000, 0, 2_000_000),
            (1_500, 3, 2_000),
            (123, 6, 123),
            (123, 9, 123),
        ] {
            assert_eq!(Micros(micros).rounded(digits), Micros(rounded), "{micros} {digits}");
        }
    }

    #[test]
    fn halves_go_to_the_even_neighbour() {
        let rounded =
            [(1, 2), (3, 2), (5, 2), (7, 2), (1, 3), (2, 3), (0, 7), (251, 100), (249, 100)]
                .map(|(numerator, denominator)| half_even(numerator, denominator).0);
        assert_eq!(rounded, [0, 2, 2, 4, 0, 1, 0, 3, 2]);
        assert_eq!(half_even(u128::MAX, 1).0, i64::MAX);
    }

    #[test]
    fn a_share_is_never_more_than_all() {
        assert_eq!(share(Micros(100), 1, 3), Micros(33));
        assert_eq!(share(Micros(100), 7, 3), Micros(100));
        assert_eq!(share(Micros(100), 0, 0), Micros(0));
        assert_eq!(share(Micros(-5), 1, 2), Micros(0));
    }
}
