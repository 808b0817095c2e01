//! Looks at the tasks until all have ended.

use super::screen::{Row, Screen};
use super::tasks;
use crate::failure::{Exit, Failure};
use crate::output;
use client::{ApiResponse, Client, ClientError, LogFilter, PageRequest, Task};
use runtime::clock::{self, Instant};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The tasks take ten seconds; a machine without room for them must not hold up the rest.
const LIMIT: Duration = Duration::from_secs(45);

/// A task that is shown.
struct Shown {
    task: Task,
    row: Row,
}

/// Submits the tasks and shows them to their end.
pub async fn show(client: &Client, url: &str) -> Result<(), Failure> {
    let began = clock::monotonic();
    let failed = |error: ClientError| Failure::caused(Exit::Failed, &error);
    let submitted = tasks::submit(client, url).await.map_err(failed)?;
    let mut shown: Vec<Shown> = submitted.into_iter().map(Shown::new).collect();
    output::text("\nBerth is ready. Demo tasks:\n")?;
    let mut screen = Screen::new();
    loop {
        for one in &mut shown {
            one.look(client, began).await.map_err(failed)?;
        }
        let rows: Vec<Row> = shown.iter().map(|one| one.row.clone()).collect();
        screen.draw(&rows)?;
        if shown.iter().all(|one| one.task.is_finished()) {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            return output::text(
                "\nSome have not finished yet. Is there room? Each needs a quarter of a core and 512 MiB.\n",
            );
        }
        clock::sleep(LOOK_EVERY).await;
    }
}

impl Shown {
    fn new(task: ApiResponse<Task>) -> Self {
        let task = task.into_value();
        let row = Row {
            name: task.name.clone().unwrap_or_default(),
            state: task.state.clone(),
            attempts: task.attempts,
            output: String::new(),
            age: Duration::ZERO,
        };
        Self { task, row }
    }

    async fn look(&mut self, client: &Client, began: Instant) -> Result<(), ClientError> {
        if self.task.is_finished() {
            return Ok(());
        }
        self.task = client.get(self.task.id).await?.into_value();
        self.row.state = self.task.state.clone();
        self.row.attempts = self.task.attempts;
        self.row.age = began.elapsed();
        if self.task.attempts > 0 && (self.task.is_finished() || self.row.output.is_empty()) {
            self.row.output = self.last_line(client).await?;
        }
        Ok(())
    }

    /// What it wrote last; of one that failed for good, why.
    async fn last_line(&self, client: &Client) -> Result<String, ClientError> {
        // More than one: the last may be empty.
        let filter = LogFilter { tail: Some(5), ..LogFilter::default() };
        let page = client.logs(self.task.id, filter, &PageRequest::default()).await?;
        let bytes: Vec<u8> = page.data.iter().flat_map(|chunk| chunk.data.clone()).collect();
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let why = self.task.reason.as_deref().unwrap_or_default();
        Ok(if last.is_empty() { why } else { last }.to_owned())
    }
}
