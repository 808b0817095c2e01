//! What is refused is refused with the form to write instead, and that form is taken.

use super::super::cron::read;
use super::check;
use proptest::prelude::*;

#[test]
fn each_part_that_means_just_one_thing_is_taken() {
    for pattern in [
        "* * * * *",
        "*/5 * * * *",
        "*/1 */1 */1 */1 */1",
        "0 */5 * * * *",
        "0-59/30 0-23 1-31 1-12 0-7",
        "5 05 05 05 05",
        "0 0 1,15 jan-mar MON-FRI",
        "0 0 * Dec,1 sat-SUN",
        "0 0 L * *",
        "0 0 1W,15W * *",
        "0 0 L,15 * *",
        "0 0 LW * ?",
        "0 0 15W * *",
        "0 0 ? * 5#2",
        "0 0 * * MON#1,fri#3,5",
        "0 0 * * FRIL",
        "0 0 * * 7L",
        "0 0 * * 7",
        "0 0 */2 * */2",
        "0 0 13 * +FRI",
        "0 9-9 * * *",
        "  0 \t 0  *  *  *  ",
        "@daily",
        " @Midnight ",
    ] {
        assert_eq!(check(pattern), Ok(()), "{pattern}");
        assert!(read(pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn a_step_that_only_means_its_first_value_is_refused_with_the_interval_to_write() {
    for (pattern, says, write) in [
        ("*/90 * * * *", "minute `*/90`", r#"{"every": {"every": "90m"}}"#),
        ("*/60 * * * *", "minute `*/60`", r#"`0`, or {"every": {"every": "60m"}}"#),
        ("0/70 * * * *", "minute `0/70`", r#"{"every": {"every": "70m"}}"#),
        ("/70 * * * *", "minute `/70`", r#"{"every": {"every": "70m"}}"#),
        ("*/90 * * * * *", "second `*/90`", r#"{"every": {"every": "90s"}}"#),
        ("0 */36 * * *", "hour `*/36`", r#"{"every": {"every": "36h"}}"#),
        ("0 0 */45 * *", "day of the month `*/45`", r#"{"every": {"every": "1080h"}}"#),
        ("0 0 1 */12 *", "month `*/12`", "write `1`"),
        ("0 0 * * */7", "day of the week `*/7`", "write `0`"),
        ("0 0 * * 0-7/7", "day of the week `0-7/7`", "write `0`"),
        ("1-5/10 * * * *", "minute `1-5/10`", "write `1`"),
        ("0 0 * * MON-FRI/5", "day of the week `MON-FRI/5`", "write `1`"),
        ("5-5/1 * * * *", "minute `5-5/1`", "write `5`"),
    ] {
        let why = check(pattern).expect_err(pattern);
        assert!(why.contains(says) && why.contains(write), "{pattern}: {why}");
    }
    let uneven = ["*/59 * * * *", "0 */23 * * *", "0 0 */30 * *", "0 0 1 */11 *", "0 0 * * */6"];
    assert_eq!(uneven.map(check), [const { Ok(()) }; 5], "each has two values");
}

#[test]
fn what_others_read_differently_is_refused_with_the_form_to_write() {
    for (pattern, field, write) in [
        ("1/15 * * * *", "minute", "1-59/15 * * * *"),
        ("/15 * * * *", "minute", "*/15 * * * *"),
        ("0 8/2 * * *", "hour", "0 8-23/2 * * *"),
        ("0 0 * * 2/2", "day of the week", "0 0 * * 2-6/2"),
        ("0 0 * * FRI-MON", "day of the week", "0 0 * * FRI-SUN,MON"),
        ("0 0 * * 5-1", "day of the week", "0 0 * * 5-7,1"),
        ("0 0 * * 5-0", "day of the week", "0 0 * * 5-7"),
        ("0 0 * * 7-2", "day of the week", "0 0 * * 7,1-2"),
        ("0 22-2 * * *", "hour", "0 22-23,0-2 * * *"),
        ("0 0 * nov-feb *", "month", "0 0 * NOV-DEC,JAN-FEB *"),
        ("0 0 WL * *", "day", "0 0 LW * *"),
        ("0 0 * * 5#L", "day", "0 0 * * 5L"),
        ("0 0 * * 2,SUN-SUN", "day of the week", "0 0 * * SUN"),
        ("? * * * *", "minute", "* * * * *"),
        ("0 ? * * *", "hour", "0 * * * *"),
        ("0 0 * ? *", "month", "0 0 * * *"),
    ] {
        let why = check(pattern).expect_err(pattern);
        let differing =
            write.split(' ').zip(pattern.split(' ')).find(|(write, given)| write != given);
        let expected = differing.map(|(write, _)| format!("`{write}`")).unwrap();
        assert!(why.contains(&expected) && why.contains(field), "{pattern}: {why}");
        assert_eq!(check(write), Ok(()), "{write}");
    }
    for (pattern, says) in [
        ("CRON_TZ=Europe/Berlin 0 9 * * *", r#"{"zone": "Europe/Berlin"}"#),
        ("tz=UTC 0 9 * * *", r#"{"zone": "UTC"}"#),
        ("@every 5m", r#"{"every": {"every": "5m"}}"#),
        ("@every 1h30m", r#"{"every": {"every": "1h30m"}}"#),
        ("@reboot", "none of the names @yearly"),
        ("@daily *", "nothing may stand behind `@daily`"),
        ("0 0 0 1 1 * 2027", "7 fields: a year is no part of it"),
        ("0 2 * * * root run", "7 fields"),
        ("* * * *", "4 fields and not 5 or 6"),
        ("", "it is empty"),
        ("H * * * *", "`jitter`"),
        ("0~30 * * * *", "`jitter`"),
        ("0 0 L-2 * *", "counts days back"),
        ("é * * * *", "`\\u{e9}` is no ASCII letter"),
        ("٣ * * * *", "is no ASCII letter"),
        ("0\u{a0}0 * * *", "is no ASCII letter"),
        ("*,5 * * * *", "`*` is each minute already"),
        ("5,* * * * *", "`*` is each minute already"),
        ("0 0 1,? * *", "`?` stands alone"),
        ("0 0 * * ?/2", "`?` stands alone"),
    ] {
        let why = check(pattern).expect_err(pattern);
        assert!(why.contains(says), "{pattern}: {why}");
    }
    assert!(check(&"1,".repeat(200)).is_err());
}

#[test]
fn what_stands_behind_a_weekday_or_a_day_is_read_strictly() {
    for (pattern, says) in [
        ("0 0 * * MON#TUE", "one digit from 1 to 5"),
        ("0 0 * * 1#5L", "one digit from 1 to 5"),
        ("0 0 * * 1#6", "one digit from 1 to 5"),
        ("0 0 * * 1#0", "one digit from 1 to 5"),
        ("0 0 * * 1#02", "one digit from 1 to 5"),
        ("0 0 * * 1#+2", "one digit from 1 to 5"),
        ("0 0 * * 1#", "one digit from 1 to 5"),
        ("0 0 * * 1#2#3", "one digit from 1 to 5"),
        ("0 0 * * 1#٣", "no ASCII"),
        ("0 0 * * #2", "`#` goes with one day"),
        ("0 0 * * 1-5#2", "`#` goes with one day"),
        ("0 0 * * *#2", "`#` goes with one day"),
        ("0 0 * * MONDAY#2", "`#` goes with one day"),
        ("0 0 * * 1#2/2", "`1#2/2` is no day of the week"),
        ("0 0 * * 5L3", "`5L3` is no day of the week"),
        ("0 0 * * L", "`L` needs a day of the week"),
        ("0 0 * * 1-5L", "`L` goes with one day"),
        ("0 0 * * LL", "`L` goes with one day"),
        ("0 0 * * 5L/2", "`5L/2` is no day of the week"),
        ("0 0 * * 15W", "`15W` is no day of the week"),
        ("0 0 1#2 * *", "`1#2` is no day of the month"),
        ("1#2 * * * *", "`1#2` is no minute"),
        ("0 0 5L * *", "`5L` is no day of the month"),
        ("0 0 W * *", "`W` is no day of the month"),
        ("0 0 32W * *", "`32W` is no day of the month"),
        ("0 0 15WW * *", "`15WW` is no day of the month"),
        ("0 0 LWL * *", "`LWL` is no day of the month"),
        ("0 0 15W3 * *", "`15W3` is no day of the month"),
        ("0 0 1-15W * *", "`W` goes with one day"),
        ("0 0 15W-20W * *", "`W` goes with one day"),
        ("0 0 15W/2 * *", "`15W/2` is no day of the month"),
        ("0 0 15W,L * *", "cannot stand in one list"),
        ("0 0 L,LW * *", "cannot stand in one list"),
        ("L * * * *", "`L` is no minute"),
    ] {
        let why = check(pattern).expect_err(pattern);
        assert!(why.contains(says), "{pattern}: {why}");
    }
}

#[test]
fn the_field_that_is_wrong_is_named_with_what_it_may_be() {
    for (pattern, says) in [
        ("61 * * * *", "`61` is no minute: it may be 0 to 59"),
        ("60 * * * * *", "`60` is no second: it may be 0 to 59"),
        ("* 9-24 * * *", "`9-24` is no hour: it may be 0 to 23"),
        ("* * 32 * *", "`32` is no day of the month: it may be 1 to 31"),
        ("0 0 * 13 *", "`13` is no month: it may be 1 to 12"),
        ("0 0 * january *", "`JANUARY` is no month: it may be 1 to 12 or JAN to DEC"),
        ("0 0 * * 9", "`9` is no day of the week: it may be 0 to 7"),
        ("0 0 * * jan", "`JAN` is no day of the week: it may be 0 to 7"),
        ("0 0 0 * * monday", "`MONDAY` is no day of the week: it may be 0 to 7"),
        ("*/0 * * * *", "the step of the minute `*/0` is 0"),
        ("*/+5 * * * *", "`*/+5` is no minute"),
        ("*/5/2 * * * *", "`*/5/2` is no minute"),
        ("*/ * * * *", "`*/` is no minute"),
        ("*/005 * * * *", "`*/005` is no minute"),
        ("007 * * * *", "`007` is no minute"),
        ("+5 * * * *", "`+5` is no minute"),
        ("-5 * * * *", "`-5` is no minute"),
        ("5- * * * *", "`5-` is no minute"),
        ("1-2-3 * * * *", "`1-2-3` is no minute"),
        ("0x1 * * * *", "`0X1` is no minute"),
        ("1,,2 * * * *", "`1,,2` lists nothing between"),
        ("0 0 * * +", "`+` lists nothing"),
        ("0 0 * * ++5", "`+5` is no day of the week"),
    ] {
        let why = check(pattern).expect_err(pattern);
        assert!(why.starts_with(says), "{pattern}: {why}");
    }
}

proptest! {
    /// So nothing that passes is stored and cannot be read.
    #[test]
    fn every_pattern_that_passes_is_read(
        fields in prop::collection::vec("[*?]|([*0-9]|[1-5][0-9]|L|LW|15W|MON|SUN|JAN|1#2|5L)([-,/]([0-9]|1[0-9]|FRI|SUN|DEC|L|W)){0,3}", 5..=6),
        any in "[0-9*/,LW#?+@a-zA-Z -]{0,40}",
    ) {
        for pattern in [fields.join(" "), any] {
            if check(&pattern).is_ok() {
                prop_assert!(read(&pattern).is_ok(), "{}", pattern);
            }
        }
    }
}
