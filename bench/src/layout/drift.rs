//! Holds what the measured statements write equal to what those of `store` write.
//!
//! `bench/sql/layout_*.sql` are copies by hand. Compared are the columns, not the values: a copy has plain values where a
//! client sends arrays. What is read and what is locked is not compared; the head of the narrow file says what is left out.

const NARROW: &str = include_str!("../../sql/layout_narrow_life.sql");
const WIDE: &str = include_str!("../../sql/layout_wide_life.sql");
const SUBMIT: &str = include_str!("../../../store/src/task/submit/plain.rs");
const DISPATCHED: &str = include_str!("../../../store/src/task/transition/dispatched.rs");
const PLACED: &str = include_str!("../../../store/src/task/transition/placed.rs");
const FOR_GOOD: &str = include_str!("../../../store/src/task/transition/lease_end/for_good.rs");

/// What stands between `from` and the next `to`. Fails where either is missing: nothing would equal nothing.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("no `{from}`")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no `{to}` after `{from}`")).0
}

/// The parts of a list, without what stands in parentheses.
fn parts(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_u32);
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ if depth == 0 => {
                if let Some(last) = parts.last_mut() {
                    last.push(letter);
                }
            }
            _ => {}
        }
    }
    parts.iter().map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The columns of the first `insert into TABLE`, in order.
fn inserted(sql: &str, table: &str) -> Vec<String> {
    parts(between(sql, &format!("insert into {table} ("), ")"))
}

/// The columns that the `update TABLE ... set` leading to `state` assigns.
fn updated(sql: &str, table: &str, alias: &str, state: &str) -> Vec<String> {
    let from = format!("update {table} {alias} set state = '{state}',");
    let mut columns: Vec<String> = parts(between(sql, &from, " from unnest("))
        .iter()
        .map(|part| part.split(" =").next().unwrap_or_default().to_owned())
        .collect();
    columns.sort_unstable();
    columns
}

#[test]
fn the_narrow_life_inserts_what_store_inserts() {
    for (store, table) in
        [(SUBMIT, "task_spec"), (SUBMIT, "task"), (FOR_GOOD, "task_history"), (FOR_GOOD, "attempt")]
    {
        assert_eq!(inserted(NARROW, table), inserted(store, table), "{table}");
    }
    assert_eq!(inserted(WIDE, "attempt"), inserted(FOR_GOOD, "attempt"));
}

#[test]
fn both_lives_assign_what_store_assigns() {
    for (store, state) in [(DISPATCHED, "queued"), (PLACED, "running")] {
        let wanted = updated(store, "task", "t", state);
        assert!(wanted.contains(&"prepaid".to_owned()), "{wanted:?}");
        assert_eq!(updated(NARROW, "task", "k", state), wanted, "narrow, {state}");
        assert_eq!(updated(WIDE, "wide_task", "k", state), wanted, "wide, {state}");
    }
}
