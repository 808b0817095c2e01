//! `berth admin invoice list`, `finalize`, `pay`, `void`, `billing` and `set-billing`: how a tenant is billed, and what it owes.

use super::tenant_show::{TenantArguments, id_of};
use crate::customer::{Connection, invoice_details, invoice_table, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Details, Format};
use client::request::TenantBillingPut;
use client::{ApiResponse, ClientError, Invoice, TenantBilling};
use domain::invoice::{InvoiceMove, InvoiceName};
use domain::time::format_time;

/// Which invoice of which tenant.
#[derive(Debug, clap::Args)]
pub struct InvoiceMoveArguments {
    /// Name or id of the tenant.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// Number of the invoice; of a draft month and currency.
    pub number: InvoiceName,
}

/// How a tenant is to be billed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin invoice set-billing acme --zone Europe/Berlin --customer cus_NciAYcXfLnqBoz --address 'Hafenstr. 1\n20095 Hamburg'\n\n\
                  This replaces all of it. Another zone moves the end of the month that is billed next."
)]
pub struct BillingSetArguments {
    /// Name or id of the tenant.
    #[arg(value_name = "NAME|ID")]
    pub tenant: String,
    /// IANA zone of its months. Default: UTC.
    #[arg(long)]
    pub zone: Option<String>,
    /// Its name at a billing provider. Default: its id.
    #[arg(long)]
    pub customer: Option<String>,
    /// Its address on invoices, several lines. Default: none.
    #[arg(long)]
    pub address: Option<String>,
}

/// Shows a tenant's invoices, newest first.
pub async fn list(arguments: &TenantArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let invoices = connection.client.tenant_invoices(tenant).await;
    let invoices = invoices.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(invoices.json()),
        Format::Table => output::text(&invoice_table(&invoices.data)),
    }
}

/// Makes a draft final, or ends an invoice, and prints it.
pub async fn settle(
    arguments: &InvoiceMoveArguments,
    change: InvoiceMove,
    connection: &Connection,
) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let (client, number) = (&connection.client, arguments.number);
    let done: Result<ApiResponse<Invoice>, ClientError> = match change {
        InvoiceMove::Finalize => client.finalize_invoice(tenant, number).await,
        InvoiceMove::Pay => client.pay_invoice(tenant, number).await,
        InvoiceMove::Void => client.void_invoice(tenant, number).await,
    };
    let invoice = done.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(invoice.json()),
        Format::Table => output::text(&invoice_details(&invoice)),
    }
}

/// Shows how a tenant is billed.
pub async fn billing(arguments: &TenantArguments, connection: &Connection) -> Result<(), Failure> {
    let tenant = id_of(connection, &arguments.tenant).await?;
    let billing = connection.client.tenant_billing(tenant).await;
    print(&billing.map_err(|error| operator_failure(&error))?, connection.format)
}

/// Stores how a tenant is billed.
pub async fn set_billing(
    arguments: &BillingSetArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let BillingSetArguments { tenant, zone, customer, address } = arguments;
    let tenant = id_of(connection, tenant).await?;
    let put = TenantBillingPut {
        zone: zone.clone(),
        customer: customer.clone(),
        address: address.clone(),
    };
    let billing = connection.client.put_tenant_billing(tenant, &put).await;
    print(&billing.map_err(|error| operator_failure(&error))?, connection.format)
}

fn print(billing: &ApiResponse<TenantBilling>, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::document(billing.json()),
        Format::Table => {
            let mut details = Details::default();
            details.row("zone", &billing.zone);
            details.some("customer", billing.customer.as_ref());
            details.some("address", billing.address.as_ref());
            details.row("next month", billing.month.format("%Y-%m"));
            details.row("from", format_time(billing.starts_at));
            details.row("to", format_time(billing.ends_at));
            output::text(&details.to_string())
        }
    }
}
