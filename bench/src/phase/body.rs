//! What is submitted: mostly a noop that ends at once, so that only Berth is measured.

use bytes::Bytes;

const TASK: &str = r#"{"name":"bench","run":{"noop":{"sleep":"0s"}},"labels":{"team":"bench"}}"#;

/// One task that is due a moment later.
pub(super) fn delayed() -> Bytes {
    Bytes::from(TASK.replacen('{', r#"{"delay":"600ms","#, 1))
}

/// One task.
pub(super) fn task() -> Bytes {
    Bytes::from_static(TASK.as_bytes())
}

/// A batch of them.
pub(super) fn batch(size: usize) -> Bytes {
    of(&vec![TASK.to_owned(); size])
}

/// A batch of commands that do nothing.
pub(super) fn commands(size: usize) -> Bytes {
    of(&vec![r#"{"name":"bench","run":{"command":{"argv":["true"]}}}"#.to_owned(); size])
}

/// A batch of which each has one of `keys` concurrency keys, `key-1` and so on.
pub(super) fn keyed_batch(size: usize, keys: usize) -> Bytes {
    let keyed =
        |n| TASK.replacen('{', &format!(r#"{{"concurrency_key":"key-{}","#, n % keys + 1), 1);
    of(&(0..size).map(keyed).collect::<Vec<_>>())
}

fn of(tasks: &[String]) -> Bytes {
    Bytes::from(format!(r#"{{"tasks":[{}]}}"#, tasks.join(",")))
}
