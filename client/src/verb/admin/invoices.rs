//! `/v1/admin/tenants/{id}/billing`, `/invoices` and `/credits`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, Credit, Invoice, Page, TenantBilling};
use api_types::request::{CreditCreate, TenantBillingPut};
use domain::id::TenantId;
use domain::invoice::InvoiceName;

fn of(tenant: TenantId, part: &str) -> String {
    format!("v1/admin/tenants/{tenant}/{part}")
}

impl Client {
    /// How a tenant is billed.
    ///
    /// # Errors
    /// 404 for an unknown tenant; no response.
    pub async fn tenant_billing(
        &self,
        tenant: TenantId,
    ) -> Result<ApiResponse<TenantBilling>, ClientError> {
        self.send(Call::get(of(tenant, "billing"))).await
    }

    /// Stores how a tenant is billed, all of it.
    ///
    /// # Errors
    /// A zone that there is not; 404 for an unknown tenant; no response.
    pub async fn put_tenant_billing(
        &self,
        tenant: TenantId,
        billing: &TenantBillingPut,
    ) -> Result<ApiResponse<TenantBilling>, ClientError> {
        self.send(Call::put(of(tenant, "billing")).json(to_json(billing)?)).await
    }

    /// All invoices of a tenant, newest first; the present month is a draft.
    ///
    /// # Errors
    /// 404 for an unknown tenant; no response.
    pub async fn tenant_invoices(
        &self,
        tenant: TenantId,
    ) -> Result<ApiResponse<Page<Invoice>>, ClientError> {
        self.send(Call::get(of(tenant, "invoices"))).await
    }

    /// Makes a draft final whose month is over and counted.
    ///
    /// # Errors
    /// 404 for an unknown draft; 409 before that; no response.
    pub async fn finalize_invoice(
        &self,
        tenant: TenantId,
        name: InvoiceName,
    ) -> Result<ApiResponse<Invoice>, ClientError> {
        // Once final it is no draft any more.
        self.send(Call::post_once(of(tenant, &format!("invoices/{name}/finalize")))).await
    }

    /// Says that an invoice was paid. The same again changes nothing.
    ///
    /// # Errors
    /// 404 for an unknown number; 409 where it is void; no response.
    pub async fn pay_invoice(
        &self,
        tenant: TenantId,
        name: InvoiceName,
    ) -> Result<ApiResponse<Invoice>, ClientError> {
        self.act(tenant, name, "pay").await
    }

    /// Makes an invoice void. The same again changes nothing.
    ///
    /// # Errors
    /// 404 for an unknown number; 409 where it was paid; no response.
    pub async fn void_invoice(
        &self,
        tenant: TenantId,
        name: InvoiceName,
    ) -> Result<ApiResponse<Invoice>, ClientError> {
        self.act(tenant, name, "void").await
    }

    async fn act(
        &self,
        tenant: TenantId,
        name: InvoiceName,
        verb: &str,
    ) -> Result<ApiResponse<Invoice>, ClientError> {
        self.send(Call::post_repeatable(of(tenant, &format!("invoices/{name}/{verb}")))).await
    }

    /// The credits and refunds of a tenant, newest first.
    ///
    /// # Errors
    /// 404 for an unknown tenant; no response.
    pub async fn credits(
        &self,
        tenant: TenantId,
    ) -> Result<ApiResponse<Page<Credit>>, ClientError> {
        self.send(Call::get(of(tenant, "credits"))).await
    }

    /// Makes a credit or a refund, once for each key.
    ///
    /// # Errors
    /// What is wrong with it; 404 for an unknown tenant; 409 where the key is another credit's; no response.
    pub async fn create_credit(
        &self,
        tenant: TenantId,
        credit: &CreditCreate,
    ) -> Result<ApiResponse<Credit>, ClientError> {
        self.send(Call::post_repeatable(of(tenant, "credits")).json(to_json(credit)?)).await
    }
}
