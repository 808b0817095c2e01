//! Tasks end in one place of the source: what happens at an end is written there, and forgotten nowhere.

use crate::plans::sources;
use std::path::Path;

/// The place: `end_tasks!`.
const END: &str = "task/transition/end.rs";

/// The paths of the source files, once for each time that `statement` begins in them.
fn places(statement: &str) -> Vec<String> {
    let mut places = Vec::new();
    for (path, text) in sources() {
        // However it is broken into lines, and whatever its name is followed by.
        let words: Vec<_> = text
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let statement: Vec<_> = statement.split(' ').collect();
        let found = words.windows(statement.len()).filter(|words| *words == statement).count();
        places.extend(std::iter::repeat_n(path.to_string_lossy().into_owned(), found));
    }
    places
}

#[test]
fn history_rows_and_attempts_are_written_in_one_place() {
    assert_eq!(places("insert into task_history"), [END]);
    assert_eq!(places("insert into attempt"), [END]);
}

#[test]
fn events_of_tasks_are_written_in_one_place() {
    let events = places("insert into task_event tenant_id kind task_id");
    assert_eq!(events, ["task/transition/change.rs"]);
}

#[test]
fn what_deletes_tasks_ends_them_in_that_place() {
    let deletes = places("delete from task");
    assert!(!deletes.is_empty());
    let ends = |place: &String| {
        let (_, text) = sources().into_iter().find(|(path, _)| path == Path::new(place)).unwrap();
        text.matches("= end_tasks!(").count()
    };
    for place in &deletes {
        let here = deletes.iter().filter(|other| *other == place).count();
        assert_eq!(ends(place), here, "{place} deletes tasks without ending them");
    }
}
