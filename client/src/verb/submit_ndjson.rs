//! `POST /v1/tasks/batch` as lines.

use crate::send::{Call, Failed, pause};
use crate::{BatchItem, BatchSummary, Client, ClientError, IdempotencyKey};
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use std::time::Duration;

/// Largest result of one line.
const LONGEST_LINE: usize = 1024 * 1024;
/// Longest silence: a slice is stored within it, or the server gives up first.
const SILENCE: Duration = Duration::from_secs(120);
const WHOLE: Duration = Duration::from_secs(24 * 3600);

/// A line of the response.
#[derive(Deserialize)]
#[serde(untagged)]
enum ResponseLine {
    Summary(BatchSummary),
    Item(BatchItem),
}

/// How one try ended.
enum Ended {
    With(BatchSummary),
    Cut,
}

impl Client {
    /// Submits many tasks as lines, one JSON task each: at most 10 000 lines, blank ones included. `on_item` is called for each
    /// task as soon as it is stored or refused, in order, once.
    ///
    /// A cut connection is made good by sending the same again under the same key: what was stored is not stored twice.
    ///
    /// # Errors
    /// What is wrong with the whole; no answer, or none to the end. A summary with an `error` is no error here: some lines were
    /// stored, those from `next` on were not answered.
    pub async fn submit_ndjson(
        &self,
        body: impl Into<Bytes> + Send,
        key: IdempotencyKey,
        mut on_item: impl FnMut(BatchItem) + Send,
    ) -> Result<BatchSummary, ClientError> {
        let call = Call::post("v1/tasks/batch", key).json(body);
        let (mut next, mut tried) = (0, 0);
        loop {
            tried += 1;
            let before = next;
            let mut news = |item: BatchItem| {
                // Items received before are repeated by the server.
                if item.index >= next {
                    next = item.index + 1;
                    on_item(item);
                }
            };
            let ended = self.lines(&call, &mut news).await;
            if next > before {
                tried = 1;
            }
            let wait = match &ended {
                Ok(Ended::With(summary)) => summary
                    .error
                    .as_ref()
                    .filter(|error| error.retryable)
                    .map(|_| self.retry.wait(tried, None, rand::random())),
                Ok(Ended::Cut) => Some(self.retry.wait(tried, None, rand::random())),
                Err(Tried::Failed(failed)) => Some(failed.wait(&self.retry, tried)),
                Err(Tried::Over(_)) => None,
            };
            if let Some(Some(wait)) = wait {
                pause(wait).await;
                continue;
            }
            let server = self.server();
            return match ended {
                Ok(Ended::With(summary)) => Ok(summary),
                Ok(Ended::Cut) => Err(ClientError::Cut { server: server.to_owned(), tries: tried }),
                Err(Tried::Failed(failed)) => Err(failed.into_error(server, tried)),
                Err(Tried::Over(error)) => Err(error),
            };
        }
    }

    /// One try.
    async fn lines(
        &self,
        call: &Call,
        on_item: &mut (impl FnMut(BatchItem) + Send),
    ) -> Result<Ended, Tried> {
        let request = self
            .request(call)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"))
            .timeout(WHOLE);
        let mut response = self.open(request).await.map_err(Tried::Failed)?;
        let mut buffer: Vec<u8> = Vec::new();
        loop {
            match tokio::time::timeout(SILENCE, response.chunk()).await {
                Ok(Ok(Some(bytes))) => buffer.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => return Ok(Ended::Cut),
            }
            let mut read = 0;
            while let Some(at) = buffer[read..].iter().position(|b| *b == b'\n') {
                let line = serde_json::from_slice(&buffer[read..read + at]);
                read += at + 1;
                match line.map_err(|source| {
                    Tried::Over(ClientError::UnexpectedResponse {
                        server: self.server().to_owned(),
                        source,
                    })
                })? {
                    ResponseLine::Summary(summary) => return Ok(Ended::With(summary)),
                    ResponseLine::Item(item) => on_item(item),
                }
            }
            buffer.drain(..read);
            if buffer.len() > LONGEST_LINE {
                return Err(Tried::Over(self.not_the_api("a line without an end")));
            }
        }
    }
}

/// Why one try failed.
enum Tried {
    Failed(Failed),
    Over(ClientError),
}
