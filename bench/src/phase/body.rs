//! What is submitted: a noop that ends at once, so that only Berth is measured.

use bytes::Bytes;

const TASK: &str = r#"{"name":"bench","run":{"noop":{"sleep":"0s"}},"labels":{"team":"bench"}}"#;

/// One task.
pub(super) fn task() -> Bytes {
    Bytes::from_static(TASK.as_bytes())
}

/// A batch of them.
pub(super) fn batch(size: usize) -> Bytes {
    Bytes::from(format!(r#"{{"tasks":[{}]}}"#, vec![TASK; size].join(",")))
}
