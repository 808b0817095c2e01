//! `/v1/admin/canaries`.

use crate::request::CanaryReport;
use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError};
use domain::id::CanaryName;

impl Client {
    /// Reports what a canary saw within an hour. A repeat changes nothing.
    ///
    /// # Errors
    /// A report that contradicts itself; no response.
    pub async fn report_canary(
        &self,
        name: &CanaryName,
        report: &CanaryReport,
    ) -> Result<ApiResponse<CanaryReport>, ClientError> {
        let call = Call::put(format!("v1/admin/canaries/{name}"));
        self.send(call.json(to_json(report)?)).await
    }
}
