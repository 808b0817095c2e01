//! `GET /v1/admin/costs`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, TenantCosts};
use chrono::NaiveDate;

/// Which costs; what is left out is as the server has it.
#[derive(Debug, Clone, Default)]
pub struct TenantCostsQuery {
    /// First day.
    pub from: Option<NaiveDate>,
    /// Last day, inclusive.
    pub to: Option<NaiveDate>,
    /// `cost`, `margin` or `unpriced`.
    pub sort: Option<String>,
    /// A price book that says what machines cost the platform.
    pub cost_book: Option<String>,
    /// Rows, 1 to 1000.
    pub limit: Option<u32>,
}

impl Client {
    /// Costs by tenant. An operator key is needed.
    ///
    /// # Errors
    /// 400 for a bad range, order or limit; 404 for an unknown price book; no response.
    pub async fn tenant_costs(
        &self,
        query: &TenantCostsQuery,
    ) -> Result<ApiResponse<TenantCosts>, ClientError> {
        let day = |day: Option<NaiveDate>| day.map(|day| day.to_string());
        let query = [
            ("from", day(query.from)),
            ("to", day(query.to)),
            ("sort", query.sort.clone()),
            ("cost_book", query.cost_book.clone()),
            ("limit", query.limit.map(|limit| limit.to_string())),
        ];
        self.send(Call::get("v1/admin/costs").query(query)).await
    }
}
