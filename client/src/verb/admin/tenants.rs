//! `/v1/admin/tenants`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, Page, PageRequest, Tenant, TenantFilter};
use api_types::request::{TenantChange, TenantCreate, TenantPut};
use domain::id::{PlanName, TenantId};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode as encode};

const PATH: &str = "v1/admin/tenants";

impl Client {
    /// One page of the tenants, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn tenants(
        &self,
        filter: &TenantFilter,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Tenant>>, ClientError> {
        self.send(Call::get(PATH).query(filter.parameters()).query(page.parameters())).await
    }

    /// A tenant.
    ///
    /// # Errors
    /// 404 for an unknown tenant; no response.
    pub async fn tenant(&self, id: TenantId) -> Result<ApiResponse<Tenant>, ClientError> {
        self.send(Call::get(of(id))).await
    }

    /// The tenant of this name.
    ///
    /// # Errors
    /// 404 for an unknown name; no response.
    pub async fn tenant_named(&self, name: &str) -> Result<ApiResponse<Tenant>, ClientError> {
        self.send(Call::get(super::path(&[PATH, name]))).await
    }

    /// Makes a tenant; `weight` of `None` is the plan's.
    ///
    /// # Errors
    /// 409 for a taken name; an unknown plan; no response.
    pub async fn create_tenant(
        &self,
        name: &str,
        plan: &PlanName,
        weight: Option<f64>,
    ) -> Result<ApiResponse<Tenant>, ClientError> {
        let body = TenantCreate { name: name.to_owned(), plan: plan.clone(), weight };
        self.send(Call::post_once(PATH).json(to_json(&body)?)).await
    }

    /// Changes a tenant's plan and weight; `None` leaves them, a weight of `Some(None)` is the plan's.
    ///
    /// # Errors
    /// 404 for an unknown or deleted tenant; an unknown plan; no response.
    pub async fn change_tenant(
        &self,
        id: TenantId,
        plan: Option<&PlanName>,
        weight: Option<Option<f64>>,
    ) -> Result<ApiResponse<Tenant>, ClientError> {
        let body = TenantChange { plan: plan.cloned(), weight };
        self.send(Call::patch(of(id)).json(to_json(&body)?)).await
    }

    /// Stores a tenant under its name, all of it: with `if_version` only in that version, with 0 only if it is new.
    ///
    /// # Errors
    /// An unknown plan; 409 while a deleted tenant has the name; 412 for another version; no response.
    pub async fn put_tenant(
        &self,
        name: &str,
        tenant: &TenantPut,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Tenant>, ClientError> {
        if matches!(name, "." | "..") {
            // A URL takes them for steps.
            let text = format!("a tenant named `{name}` can be stored by its id only");
            return Err(ClientError::Settings(text));
        }
        let call = Call::put(format!("{PATH}/{}", encode(name, NON_ALPHANUMERIC)));
        self.send(call.json(to_json(tenant)?).if_version(if_version)).await
    }

    /// Suspends a tenant: no submits and no new starts. One that is suspended stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown tenant; 409 for a deleted one; no response.
    pub async fn suspend_tenant(&self, id: TenantId) -> Result<ApiResponse<Tenant>, ClientError> {
        self.send(Call::post_repeatable(format!("{}/suspend", of(id)))).await
    }

    /// Resumes a suspended tenant. One that is active stays as it is.
    ///
    /// # Errors
    /// 404 for an unknown tenant; 409 for a deleted one; no response.
    pub async fn resume_tenant(&self, id: TenantId) -> Result<ApiResponse<Tenant>, ClientError> {
        self.send(Call::post_repeatable(format!("{}/resume", of(id)))).await
    }

    /// Deletes a tenant. Cannot be undone.
    ///
    /// # Errors
    /// 404 for an unknown tenant; no response.
    pub async fn delete_tenant(&self, id: TenantId) -> Result<ApiResponse<Tenant>, ClientError> {
        self.send(Call::delete(of(id))).await
    }
}

fn of(id: TenantId) -> String {
    format!("{PATH}/{id}")
}
