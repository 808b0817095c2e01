//! `GET /v1/usage`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Usage};
use chrono::NaiveDate;

impl Client {
    /// Usage from day `from` to day `to`, inclusive, UTC. Default: this month.
    ///
    /// # Errors
    /// A range that the server refuses; no response.
    pub async fn usage(
        &self,
        from: Option<NaiveDate>,
        to: Option<NaiveDate>,
    ) -> Result<ApiResponse<Usage>, ClientError> {
        let day = |day: Option<NaiveDate>| day.map(|day| day.to_string());
        self.send(Call::get("v1/usage").query([("from", day(from)), ("to", day(to))])).await
    }
}
