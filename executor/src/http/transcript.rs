//! What an attempt leaves to read: the last answer's body, and a line for each thing that happened.
//!
//! Goes the way of a command's output, within the same bounds. The body of an answer that is JSON is also what the task returns.

use super::json_body::JsonBody;
use crate::output::{AttemptOutput, Feed, OutputQueue, Which};
use domain::task::ResultValue;
use egress::header::HeaderMap;
use egress::{StatusCode, Version};
use std::sync::Arc;
use url::Url;

pub(super) struct Transcript {
    feed: Feed,
    json: JsonBody,
}

impl Transcript {
    /// `body_limit`: where the last answer's body is cut, bytes.
    pub(super) fn new(
        output: Arc<AttemptOutput>,
        queue: Arc<OutputQueue>,
        body_limit: u64,
    ) -> Self {
        Self { feed: Feed::new(output, queue), json: JsonBody::new(body_limit) }
    }

    /// What the last answer returns, now that all of it was read.
    pub(super) fn value(self) -> Option<ResultValue> {
        self.json.value()
    }

    fn line(&mut self, text: &str) {
        self.feed.push(Which::Stderr, format!("{text}\n").as_bytes());
    }
}

impl egress::Transcript for Transcript {
    fn asked(&mut self, method: &str, url: &Url) {
        self.line(&format!("> {method} {url}"));
    }

    fn answered(&mut self, version: Version, status: StatusCode, headers: &HeaderMap) {
        self.json.begin(headers);
        let mut text = format!("< {version:?} {status}\n");
        for (name, value) in headers {
            text.push_str(&format!("< {name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        }
        self.feed.push(Which::Stderr, text.as_bytes());
    }

    fn remark(&mut self, text: &str) {
        self.line(&format!("* {text}"));
    }

    fn body(&mut self, data: &[u8]) {
        self.json.push(data);
        self.feed.push(Which::Stdout, data);
    }

    async fn held(&mut self) {
        self.feed.held().await;
    }
}
