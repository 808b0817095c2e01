//! `GET /v1/tasks/{id}`.

use crate::send::Call;
use crate::{Answer, Client, ClientError, Task};
use domain::id::TaskId;

impl Client {
    /// Reads a task, live or ended.
    ///
    /// # Errors
    /// 404 when there is none of this id among your tasks; no answer.
    pub async fn get(&self, id: TaskId) -> Result<Answer<Task>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}"))).await
    }
}
