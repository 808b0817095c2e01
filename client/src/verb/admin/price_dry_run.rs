//! `POST /v1/admin/price-dry-runs`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, PriceDryRun};
use domain::id::{PriceBookName, TenantId};

/// Which use; what is left out is as the server has it.
#[derive(Debug, Clone, Default)]
pub struct PriceDryRunQuery {
    /// The month, such as 2030-01.
    pub month: Option<String>,
    /// Only tenants whose plan names this price book.
    pub price_book: Option<PriceBookName>,
    /// Only this tenant.
    pub tenant: Option<TenantId>,
    /// Rows, 1 to 1000.
    pub limit: Option<u32>,
}

impl Client {
    /// What a month's use would have cost by the last prices of a book. An operator key is needed.
    ///
    /// # Errors
    /// 400 for a month that has not begun, or more attempts than one dry run reads; 404 for an unknown price book or tenant; prices out of
    /// their ranges; no response.
    pub async fn dry_run_prices(
        &self,
        book: &domain::price::PriceBook,
        query: &PriceDryRunQuery,
    ) -> Result<ApiResponse<PriceDryRun>, ClientError> {
        let query = [
            ("month", query.month.clone()),
            ("price_book", query.price_book.as_ref().map(ToString::to_string)),
            ("tenant", query.tenant.map(|tenant| tenant.to_string())),
            ("limit", query.limit.map(|limit| limit.to_string())),
        ];
        self.send(
            Call::post_repeatable("v1/admin/price-dry-runs").json(to_json(book)?).query(query),
        )
        .await
    }
}
