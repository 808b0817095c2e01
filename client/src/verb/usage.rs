//! `GET /v1/usage` and `GET /v1/costs`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Costs, Usage};
use chrono::NaiveDate;

impl Client {
    /// Usage from day `from` to day `to`, inclusive, UTC. Default: this month.
    ///
    /// # Errors
    /// A range, step or group that the server refuses; no response.
    pub async fn usage(&self, query: &CostsQuery) -> Result<ApiResponse<Usage>, ClientError> {
        self.send(Call::get("v1/usage").query(query.parameters())).await
    }

    /// Costs from day `from` to day `to`, inclusive, UTC. Default: this month.
    ///
    /// # Errors
    /// A range, step or group that the server refuses; no response.
    pub async fn costs(&self, query: &CostsQuery) -> Result<ApiResponse<Costs>, ClientError> {
        self.send(Call::get("v1/costs").query(query.parameters())).await
    }
}

/// Which usage or costs; what is left out is as the server has it.
#[derive(Debug, Clone, Default)]
pub struct CostsQuery {
    /// First day.
    pub from: Option<NaiveDate>,
    /// Last day, inclusive.
    pub to: Option<NaiveDate>,
    /// `hour`, `day` or `month`.
    pub step: Option<String>,
    /// `tier`, `schedule`, `workflow`, or `label:` and the key of a label.
    pub group_by: Option<String>,
}

impl CostsQuery {
    fn parameters(&self) -> [(&'static str, Option<String>); 4] {
        let day = |day: Option<NaiveDate>| day.map(|day| day.to_string());
        [
            ("from", day(self.from)),
            ("to", day(self.to)),
            ("step", self.step.clone()),
            ("group_by", self.group_by.clone()),
        ]
    }
}
