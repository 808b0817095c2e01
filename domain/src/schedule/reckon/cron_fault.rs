//! Says which field of a cron pattern is wrong, and what it may be.
//!
//! The library that reads patterns says why it cannot, in words of its own and of its insides. Each field is tried alone instead.

/// The fields of a pattern, and what each may be.
const FIELDS: [(&str, &str); 6] = [
    ("second", "0 to 59"),
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    (
        "day of the month",
        "1 to 31, `L` for the last, or such as `15W` for the weekday next to the 15th",
    ),
    ("month", "1 to 12 or JAN to DEC"),
    (
        "day of the week",
        "0 to 7 or SUN to SAT, such as `5L` for the last Friday or `1#2` for the second Monday",
    ),
];

/// Why `pattern`, of 5 or 6 fields, is none; `reads` says whether a pattern can be read.
pub(super) fn fault(pattern: &str, reads: impl Fn(&str) -> bool) -> String {
    let fields: Vec<&str> = pattern.split_ascii_whitespace().collect();
    let named = FIELDS.iter().skip(FIELDS.len().saturating_sub(fields.len()));
    for (index, (field, (name, range))) in fields.iter().zip(named).enumerate() {
        let mut alone = vec!["*"; fields.len()];
        alone[index] = field;
        if !reads(&alone.join(" ")) {
            return format!(
                "`{field}` is no {name}: it may be {range}, and lists (`1,2`), ranges (`1-5`) and steps (`*/5`) of these"
            );
        }
    }
    "its fields cannot be read together".to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::cron::read;

    #[test]
    fn the_field_that_is_wrong_is_named_with_what_it_may_be() {
        for (pattern, says) in [
            ("61 * * * *", "`61` is no minute: it may be 0 to 59"),
            ("60 * * * * *", "`60` is no second: it may be 0 to 59"),
            ("* 9-24 * * *", "`9-24` is no hour: it may be 0 to 23"),
            ("* * 32 * *", "`32` is no day of the month: it may be 1 to 31"),
            ("0 0 * 13 *", "`13` is no month: it may be 1 to 12"),
            ("0 0 * * 9", "`9` is no day of the week: it may be 0 to 7"),
            ("0 0 0 * * 1#9", "`1#9` is no day of the week: it may be 0 to 7"),
            ("*/0 * * * *", "`*/0` is no minute: it may be 0 to 59"),
        ] {
            let why = read(pattern).unwrap_err();
            assert!(why.starts_with(says), "{pattern}: {why}");
        }
    }
}
