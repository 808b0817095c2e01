//! The wheel against a plain list, and its cost.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_timestamp_millis(1_700_000_000_000 + millis).unwrap()
}

#[test]
fn a_timer_fires_once_and_never_early() {
    let mut wheel = Wheel::new(at(0));
    wheel.insert('a', at(5) + chrono::TimeDelta::microseconds(1));
    wheel.insert('b', at(5));
    assert!(wheel.advance(at(4)).is_empty());
    assert_eq!(wheel.advance(at(5)), ['b']);
    assert_eq!(wheel.next_due(), Some(at(6)), "the end of its tick");
    assert_eq!(wheel.advance(at(6)), ['a']);
    assert_eq!((wheel.advance(at(99_999)), wheel.next_due()), (vec![], None));
}

#[test]
fn one_in_the_past_fires_at_once_and_time_does_not_go_back() {
    let mut wheel = Wheel::new(at(1000));
    wheel.insert('a', at(10));
    assert_eq!(wheel.next_due(), Some(at(1000)));
    assert_eq!(wheel.advance(at(500)), ['a']);
    wheel.insert('b', at(1001));
    assert_eq!((wheel.advance(at(0)), wheel.len()), (vec![], 1));
    assert_eq!(wheel.advance(at(1001)), ['b']);
}

#[test]
fn the_name_of_a_timer_dies_with_it() {
    let mut wheel = Wheel::new(at(0));
    let (a, b) = (wheel.insert('a', at(5)), wheel.insert('b', at(5)));
    assert_eq!((wheel.cancel(a), wheel.cancel(a)), (Some('a'), None));
    let again = wheel.insert('c', at(7));
    assert_eq!(wheel.cancel(a), None, "its place is another's now");
    assert_eq!(wheel.advance(at(6)), ['b']);
    assert_eq!((wheel.cancel(b), wheel.cancel(again), wheel.is_empty()), (None, Some('c'), true));
}

#[test]
fn a_far_time_is_found_in_few_steps() {
    let mut wheel = Wheel::new(at(0));
    let far = at(0) + chrono::TimeDelta::days(365 * 7000);
    wheel.insert('a', far);
    let mut steps = 0;
    while let Some(next) = wheel.next_due().filter(|next| *next < far) {
        assert!(wheel.advance(next).is_empty());
        steps += 1;
    }
    assert!(steps <= 10, "{steps}");
    assert_eq!(wheel.advance(far), ['a']);
}

#[derive(Debug, Clone)]
enum Step {
    Insert(i64),
    Cancel(prop::sample::Index),
    Advance(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let delay = || prop_oneof![0_i64..200, 0_i64..100_000, 0_i64..10_000_000_000];
    let step = prop_oneof![
        4 => (-50_i64..0).prop_map(Step::Insert),
        8 => delay().prop_map(Step::Insert),
        3 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        3 => delay().prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn it_does_what_a_sorted_list_does(steps in steps()) {
        let (mut wheel, mut now) = (Wheel::new(at(0)), 0);
        let (mut list, mut names) = (BTreeMap::new(), vec![]);
        for (key, step) in steps.into_iter().enumerate() {
            match step {
                Step::Insert(delay) => {
                    names.push((key, wheel.insert(key, at(now + delay))));
                    list.insert(key, (now + delay).max(now));
                }
                Step::Cancel(_) if names.is_empty() => {}
                Step::Cancel(which) => {
                    let (key, name) = names[which.index(names.len())];
                    prop_assert_eq!(wheel.cancel(name), list.remove(&key).map(|_| key));
                }
                Step::Advance(by) => {
                    now += by;
                    let mut due: Vec<_> = list.extract_if(.., |_, due| *due <= now).collect();
                    let fired = wheel.advance(at(now));
                    let when = |key| due.iter().find(|(other, _)| other == key).map(|(_, at)| *at);
                    prop_assert!(fired.iter().map(when).is_sorted());
                    due.sort_unstable();
                    let mut fired = fired;
                    fired.sort_unstable();
                    prop_assert_eq!(fired, due.into_iter().map(|(key, _)| key).collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(wheel.len(), list.len());
            let first = list.values().min().map(|first| at(*first));
            prop_assert!(wheel.next_due() <= first && wheel.next_due().is_some() == first.is_some());
        }
    }
}
