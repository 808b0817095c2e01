//! `/costs/invoices/{number}`: an invoice, and the same as a file.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::{Visit, in_path, read};
use crate::words::{Mark, Moment, count, mark_of, money};
use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use api_types::{Invoice, InvoiceLine};
use askama::Template;
use domain::invoice::LineKind;
use serde_json::Value;

#[derive(Template)]
#[template(path = "money/invoice.html")]
struct InvoicePage {
    frame: Frame,
    number: String,
    path: String,
    state: Mark,
    from: Moment,
    until: Moment,
    seller: String,
    customer: String,
    address: String,
    lines: Vec<Line>,
    total: String,
}

struct Line {
    what: String,
    /// Its attempts, where it is made of some.
    href: Option<String>,
    quantity: String,
    amount: String,
}

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let invoice: Invoice =
        visit.get(format!("/v1/invoices/{}", visit.part_in_path("number"))).await?;
    let path = format!("/costs/invoices/{}", in_path(&invoice.number));
    let line = |line: &InvoiceLine| {
        let has_attempts = matches!(
            line.kind.known(),
            Some(LineKind::Attempts | LineKind::Tasks | LineKind::Fires)
        );
        Line {
            what: line.description.clone(),
            href: has_attempts.then(|| format!("{path}/lines/{}", line.line)),
            quantity: line.quantity.map(count).unwrap_or_default(),
            amount: money(line.amount, &invoice.currency),
        }
    };
    page(&InvoicePage {
        frame: Frame::new(&visit, Section::Money, format!("Invoice {}", invoice.number)),
        state: mark_of(&invoice.state.to_string()),
        from: Moment(invoice.starts_at),
        until: Moment(invoice.ends_at),
        seller: invoice.seller.clone(),
        customer: invoice.customer.name.clone().unwrap_or_default(),
        address: invoice.customer.address.clone().unwrap_or_default(),
        lines: invoice.lines.iter().map(line).collect(),
        total: money(invoice.total, &invoice.currency),
        number: invoice.number.clone(),
        path,
    })
}

/// Gives it as a file: PDF or CSV.
pub(crate) async fn file(visit: Visit) -> Result<HttpResponse, Fault> {
    let format = match visit.part("format").as_str() {
        "pdf" => "pdf",
        "csv" => "csv",
        _ => return Err(Fault::NoPage),
    };
    let target = format!("/v1/invoices/{}?format={format}", visit.part_in_path("number"));
    let reply = visit.reply(Method::Get, target, None, Vec::new()).await;
    if reply.status != 200 {
        return match read::<Value>(&reply) {
            Err(fault) => Err(fault),
            Ok(_) => Err(Fault::NoPage),
        };
    }
    let keeps = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let name: String = visit.part("number").chars().filter(keeps).collect();
    let named = format!("attachment; filename=\"invoice-{name}.{format}\"");
    let mut answer = HttpResponse::Ok();
    answer.insert_header((CONTENT_TYPE, HeaderValue::from_str(&reply.content_type)?));
    answer.insert_header((CONTENT_DISPOSITION, HeaderValue::from_str(&named)?));
    Ok(answer.body(reply.body))
}
