//! The times of a day at which something is due.

use crate::schedule::ClockTime;

/// Times of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Times {
    /// All that match three fields; bit n stands for n.
    Fields { hours: u32, minutes: u64, seconds: u64 },
    /// These seconds after midnight, in order.
    Listed(Vec<u32>),
}

/// The lowest number from `from` on whose bit is set.
fn next_bit(bits: u64, from: u32) -> Option<u32> {
    let rest = bits.checked_shr(from)?;
    (rest != 0).then(|| from + rest.trailing_zeros())
}

impl Times {
    /// The times of `list`.
    pub fn listed(list: &[ClockTime]) -> Self {
        let mut seconds: Vec<_> = list.iter().map(|time| time.second_of_day()).collect();
        seconds.sort_unstable();
        seconds.dedup();
        Self::Listed(seconds)
    }

    /// The first of them that is `from` or later; nothing where the day has none left.
    pub fn first_from(&self, from: u32) -> Option<u32> {
        match self {
            Self::Listed(seconds) => seconds.get(seconds.partition_point(|at| *at < from)).copied(),
            Self::Fields { hours, minutes, seconds } => {
                let (hours, minutes, seconds) = (u64::from(*hours), *minutes, *seconds);
                let (mut hour, mut minute, mut second) = (from / 3600, from / 60 % 60, from % 60);
                let next_second = next_bit(seconds, second);
                let stays = hours >> hour & 1 == 1 && minutes >> minute & 1 == 1;
                if let (true, Some(found)) = (stays, next_second) {
                    return Some(hour * 3600 + minute * 60 + found);
                }
                second = next_bit(seconds, 0)?;
                let next_minute = next_bit(minutes, minute + 1);
                if let (true, Some(found)) = (hours >> hour & 1 == 1, next_minute) {
                    return Some(hour * 3600 + found * 60 + second);
                }
                minute = next_bit(minutes, 0)?;
                hour = next_bit(hours, hour + 1)?;
                Some(hour * 3600 + minute * 60 + second)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_time_is_the_one_that_looking_at_each_second_finds(
            hours in 1_u32..1 << 24, minutes in 1_u64..1 << 60, seconds in 1_u64..1 << 60,
            from in 0_u32..86_400,
        ) {
            let times = Times::Fields { hours, minutes, seconds };
            let matches = |at: &u32| {
                hours >> (at / 3600) & 1 == 1
                    && minutes >> (at / 60 % 60) & 1 == 1
                    && seconds >> (at % 60) & 1 == 1
            };
            prop_assert_eq!(times.first_from(from), (from..86_400).find(matches));
        }
    }

    #[test]
    fn a_list_is_ordered_and_each_time_stands_in_it_once() {
        let at = |text: &str| text.parse().unwrap();
        let times = Times::listed(&[at("17:00"), at("09:00:01"), at("17:00")]);
        assert_eq!(times, Times::Listed(vec![9 * 3600 + 1, 17 * 3600]));
        assert_eq!(times.first_from(0), Some(9 * 3600 + 1));
        assert_eq!(times.first_from(9 * 3600 + 2), Some(17 * 3600));
        assert_eq!(times.first_from(17 * 3600 + 1), None);
    }
}
