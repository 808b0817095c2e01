//! An invoice in a path, and in what form it is answered.

use crate::answer::{Answer, Render};
use crate::invoice::{csv, pdf};
use crate::openapi::{Form, Param};
use crate::problem::{Code, Problem};
use crate::request::{Head, Query, wrong_parameter};
use actix_web::HttpResponse;
use actix_web::http::header::{ACCEPT, CONTENT_DISPOSITION};
use api_types::Invoice;
use domain::invoice::{InvoiceName, ParseInvoiceNameError};

/// The parameter that says in which form.
pub(in crate::routes) const FORMAT: Param = Param {
    name: "format",
    text: "`json` (default), `csv` or `pdf`; or as `Accept` says",
    form: Form::OneOf(&["json", "csv", "pdf"]),
};

/// In which form an invoice is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::routes) enum InvoiceFormat {
    Json,
    Csv,
    Pdf,
}

/// The name in the path.
pub(in crate::routes) fn name_of(request: &Head) -> Result<InvoiceName, Problem> {
    let text = request.part("number").unwrap_or_default();
    text.parse().map_err(|error: ParseInvoiceNameError| {
        Problem::at(Code::InvalidParameter, "path:number", error.to_string())
    })
}

/// The form that is asked for; the parameter goes before the header.
pub(in crate::routes) fn format_of(
    request: &Head,
    query: &mut Query,
) -> Result<InvoiceFormat, Problem> {
    match query.one("format")?.as_deref() {
        Some("json") => Ok(InvoiceFormat::Json),
        Some("csv") => Ok(InvoiceFormat::Csv),
        Some("pdf") => Ok(InvoiceFormat::Pdf),
        Some(_) => Err(wrong_parameter("format", "must be json, csv or pdf")),
        None => {
            let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
            let first = accept.unwrap_or_default().split([',', ';']).next().unwrap_or_default();
            Ok(match first.trim() {
                "text/csv" => InvoiceFormat::Csv,
                "application/pdf" => InvoiceFormat::Pdf,
                _ => InvoiceFormat::Json,
            })
        }
    }
}

/// Answers with an invoice in this form.
pub(in crate::routes) fn answer(
    invoice: Invoice,
    format: InvoiceFormat,
) -> Result<HttpResponse, Problem> {
    let (kind, end, body) = match format {
        InvoiceFormat::Json => return Answer::ok(invoice).render(),
        InvoiceFormat::Csv => ("text/csv; charset=utf-8", "csv", csv(&invoice).into_bytes()),
        InvoiceFormat::Pdf => ("application/pdf", "pdf", pdf(&invoice)),
    };
    let name = format!("attachment; filename=\"invoice-{}.{end}\"", invoice.number);
    Ok(HttpResponse::Ok().content_type(kind).insert_header((CONTENT_DISPOSITION, name)).body(body))
}
