//! `GET /v1/tasks/{id}/explain`.

use crate::send::Call;
use crate::{Answer, Client, ClientError};
use domain::explain::Explanation;
use domain::id::TaskId;

impl Client {
    /// Explains what a task waits for, and when it will probably start.
    ///
    /// # Errors
    /// 404 when there is none of this id among your tasks; no answer, or one that this version cannot read.
    pub async fn explain(&self, id: TaskId) -> Result<Answer<Explanation>, ClientError> {
        self.send(Call::get(format!("v1/tasks/{id}/explain"))).await
    }
}
