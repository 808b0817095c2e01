//! `/v1/admin/plans`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, DeletedPlan, Page, Plan};
use domain::id::PlanName;
use domain::plan::PutPlan;

const PATH: &str = "v1/admin/plans";

impl Client {
    /// Every plan, by name.
    ///
    /// # Errors
    /// No response.
    pub async fn plans(&self) -> Result<ApiResponse<Page<Plan>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// A plan.
    ///
    /// # Errors
    /// 404 for an unknown plan; no response.
    pub async fn plan(&self, name: &PlanName) -> Result<ApiResponse<Plan>, ClientError> {
        self.send(Call::get(of(name))).await
    }

    /// Stores a plan: with `if_version` only in that version, with 0 only if it is new.
    ///
    /// # Errors
    /// Limits out of their ranges, an unknown price book; 412 for another version; no response.
    pub async fn put_plan(
        &self,
        name: &PlanName,
        plan: &PutPlan,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Plan>, ClientError> {
        self.send(Call::put(of(name)).json(to_json(plan)?).if_version(if_version)).await
    }

    /// Deletes a plan without tenants: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown plan; 409 while it is used; 412 for another version; no response.
    pub async fn delete_plan(
        &self,
        name: &PlanName,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedPlan>, ClientError> {
        self.send(Call::delete(of(name)).if_version(if_version)).await
    }
}

fn of(name: &PlanName) -> String {
    format!("{PATH}/{name}")
}
