//! `GET /v1/usage`.

use crate::send::Call;
use crate::{Answer, Client, ClientError, Usage};
use chrono::NaiveDate;

impl Client {
    /// What was used from day `from` to day `to`, both included, UTC; this month when left out.
    ///
    /// # Errors
    /// A range that the server refuses; no answer.
    pub async fn usage(
        &self,
        from: Option<NaiveDate>,
        to: Option<NaiveDate>,
    ) -> Result<Answer<Usage>, ClientError> {
        let day = |day: Option<NaiveDate>| day.map(|day| day.to_string());
        self.send(Call::get("v1/usage").query([("from", day(from)), ("to", day(to))])).await
    }
}
