//! `GET /v1/tasks/{id}/logs`, live.

use crate::events::{Event, EventReader};
use crate::send::{Call, pause};
use crate::{Client, ClientError, FollowEvent, FollowedState, LogFilter};
use domain::id::TaskId;
use reqwest::Response;
use reqwest::header::{ACCEPT, HeaderValue};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::time::Duration;

/// The server breaks the silence every 15 s by default, and every 5 minutes at most.
const SILENCE: Duration = Duration::from_secs(60);
/// reqwest needs a time limit for the whole response; a stream has none.
const WHOLE: Duration = Duration::from_secs(30 * 24 * 3600);

/// A task that is being followed. Goes on by itself where a connection is cut, without a gap and without repeating.
#[derive(Debug)]
pub struct Follow {
    client: Client,
    task: TaskId,
    filter: LogFilter,
    response: Option<Response>,
    reader: EventReader,
    waiting: VecDeque<Event>,
    last_id: Option<String>,
    shown: Option<FollowedState>,
    /// Tries since the last event.
    tried: u32,
    /// The present try has waited already.
    rested: bool,
    ended: bool,
}

impl Client {
    /// Follows a task: its output as it is written, its states, its end. Connects with the first [`Follow::next`].
    #[must_use]
    pub fn follow(&self, task: TaskId, filter: LogFilter) -> Follow {
        Follow {
            client: self.clone(),
            task,
            filter,
            response: None,
            reader: EventReader::default(),
            waiting: VecDeque::new(),
            last_id: None,
            shown: None,
            tried: 0,
            rested: false,
            ended: false,
        }
    }
}

impl Follow {
    /// What happened next; `None` after the end. Dropping the future in the middle loses nothing.
    ///
    /// # Errors
    /// 404 for an unknown task; no response after all attempts since the last event. The following may be
    /// continued after an error.
    pub async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                self.tried = 0;
                if let Some(event) = self.read(event)? {
                    return Ok(Some(event));
                }
            }
            if self.ended {
                return Ok(None);
            }
            self.receive().await?;
        }
    }

    /// Waits for bytes of the present connection, or makes one.
    async fn receive(&mut self) -> Result<(), ClientError> {
        let Some(response) = &mut self.response else { return self.connect().await };
        let chunk = tokio::time::timeout(SILENCE, response.chunk()).await;
        match chunk {
            Ok(Ok(Some(bytes))) => match self.reader.push(&bytes) {
                Ok(events) => self.waiting.extend(events),
                Err(_) => return Err(self.client.not_the_api("no stream of events")),
            },
            // Ended without an end, broken, or silent: all mean to connect again.
            Ok(Ok(None)) | Ok(Err(_)) | Err(_) => {
                self.response = None;
                self.reader = EventReader::default();
            }
        }
        Ok(())
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let call =
            Call::get(format!("v1/tasks/{}/logs", self.task)).query(self.filter.parameters());
        self.tried += 1;
        if !std::mem::take(&mut self.rested) && self.tried > 1 {
            // Also where the connection was made and cut at once, again and again.
            match self.client.retry.wait(self.tried - 1, None, rand::random()) {
                Some(wait) => pause(wait).await,
                None => {
                    let (server, tries) = (self.client.server().to_owned(), self.tried - 1);
                    self.tried = 0;
                    return Err(ClientError::Cut { server, tries });
                }
            }
        }
        let mut request = self
            .client
            .request(&call)
            .header(ACCEPT, HeaderValue::from_static("text/event-stream"))
            .timeout(WHOLE);
        if let Some(id) = &self.last_id {
            request = request.header("last-event-id", id);
        }
        match self.client.open(request).await {
            Ok(response) => self.response = Some(response),
            Err(failed) => match failed.wait(&self.client.retry, self.tried) {
                Some(wait) => {
                    self.rested = true;
                    pause(wait).await;
                }
                None => {
                    let tries = std::mem::take(&mut self.tried);
                    return Err(failed.into_error(self.client.server(), tries));
                }
            },
        }
        Ok(())
    }

    fn read(&mut self, event: Event) -> Result<Option<FollowEvent>, ClientError> {
        let read = match event.name.as_str() {
            "output" => Some(FollowEvent::Output(self.parse(&event.data)?)),
            "state" => {
                let state: FollowedState = self.parse(&event.data)?;
                // Told again after a cut.
                let known = self.shown.replace(state.clone());
                (known.as_ref() != Some(&state)).then_some(FollowEvent::State(state))
            }
            "end" => {
                self.ended = true;
                self.response = None;
                Some(FollowEvent::End(self.parse(&event.data)?))
            }
            _ => None,
        };
        self.last_id = Some(event.id);
        Ok(read)
    }

    fn parse<T: DeserializeOwned>(&self, data: &str) -> Result<T, ClientError> {
        serde_json::from_str(data).map_err(|source| ClientError::UnexpectedResponse {
            server: self.client.server().to_owned(),
            source,
        })
    }
}
