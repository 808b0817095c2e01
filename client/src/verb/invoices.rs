//! `/v1/invoices`.

use crate::send::Call;
use crate::{ApiResponse, Client, ClientError, Invoice, InvoiceAttempt, Page, PageRequest};
use bytes::Bytes;
use domain::invoice::InvoiceName;

impl Client {
    /// All invoices of the tenant, newest first; the present month is a draft.
    ///
    /// # Errors
    /// No response.
    pub async fn invoices(&self) -> Result<ApiResponse<Page<Invoice>>, ClientError> {
        self.send(Call::get("v1/invoices")).await
    }

    /// An invoice.
    ///
    /// # Errors
    /// 404 for an unknown number; no response.
    pub async fn invoice(&self, name: InvoiceName) -> Result<ApiResponse<Invoice>, ClientError> {
        self.send(Call::get(format!("v1/invoices/{name}"))).await
    }

    /// An invoice as a file of this format: `csv` or `pdf`.
    ///
    /// # Errors
    /// 404 for an unknown number; a format that the server refuses; no response.
    pub async fn invoice_file(
        &self,
        name: InvoiceName,
        format: &str,
    ) -> Result<Bytes, ClientError> {
        let query = [("format", Some(format.to_owned()))];
        self.fetch(Call::get(format!("v1/invoices/{name}")).query(query)).await
    }

    /// One page of the attempts of a line of an invoice. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// 404 for an unknown line, or one without attempts; no response.
    pub async fn invoice_attempts(
        &self,
        name: InvoiceName,
        line: u32,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<InvoiceAttempt>>, ClientError> {
        let path = format!("v1/invoices/{name}/lines/{line}/attempts");
        self.send(Call::get(path).query(page.parameters())).await
    }
}
