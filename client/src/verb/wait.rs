//! Waiting for a task's end, without its output.

use crate::send::pause;
use crate::{ApiResponse, Client, ClientError, Task};
use domain::id::TaskId;
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Client {
    /// Reads a task again and again until it has ended, with pauses of 50 ms to 2 s. Waits as long as it takes: put a limit
    /// of your own around it where there must be one.
    ///
    /// # Errors
    /// 404 for an unknown task; no response.
    pub async fn wait(&self, id: TaskId) -> Result<ApiResponse<Task>, ClientError> {
        let mut next = FIRST_PAUSE;
        loop {
            let task = self.get(id).await?;
            if task.is_finished() {
                return Ok(task);
            }
            pause(next).await;
            next = next.mul_f64(1.5).min(LONGEST_PAUSE);
        }
    }
}
