//! `/costs/invoices/{number}/lines/{line}`: the attempts that a line of an invoice is the sum of.

use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing, asked};
use crate::visit::{Visit, in_path};
use crate::words::{Moment, money, ms};
use actix_web::HttpResponse;
use api_types::{Invoice, InvoiceAttempt, Page};
use domain::access::Permission;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let (number, line) = (visit.part_in_path("number"), visit.part_in_path("line"));
    let target = asked(&visit, &format!("/v1/invoices/{number}/lines/{line}/attempts"), &[]);
    let (invoice, attempts) = futures::join!(
        visit.get::<Invoice>(format!("/v1/invoices/{number}")),
        visit.get::<Page<InvoiceAttempt>>(target),
    );
    let (invoice, attempts) = (invoice?, attempts?);
    let of = invoice.lines.iter().find(|found| found.line.to_string() == line);
    let columns = [
        ("Task", false),
        ("Attempt", true),
        ("Placed", true),
        ("Ended", false),
        ("Billed time", true),
        ("Cost", false),
    ];
    let empty = (
        "No attempts are kept of this line",
        "They are kept as long as tasks are; see Account for how long.",
    );
    let title = format!("Invoice {}, line {line}", invoice.number);
    let mut list = Listing::new(Frame::new(&visit, Section::Money, title), &columns, empty);
    list.sub = of
        .map(|line| {
            format!(
                "{}: {}. Each attempt with its exact cost; they add up to the line.",
                line.description,
                money(line.amount, &invoice.currency)
            )
        })
        .unwrap_or_default();
    list.acts =
        vec![(format!("/costs/invoices/{}", in_path(&invoice.number)), "Back to the invoice")];
    let may_read = visit.may(Permission::ReadTasks);
    let row = |attempt: &InvoiceAttempt| {
        let task = attempt.task.to_string();
        vec![
            if may_read { Cell::Link(format!("/tasks/{task}"), task) } else { Cell::Code(task) },
            Cell::Number(attempt.attempt.to_string()),
            Cell::At(Moment(attempt.placed_at)),
            Cell::At(Moment(attempt.ended_at)),
            Cell::Number(ms(attempt.usage_ms)),
            Cell::Number(money(attempt.cost, &invoice.currency)),
        ]
    };
    list.rows = attempts.data.iter().map(row).collect();
    list.paged(&visit, &[], attempts.next_cursor.map(|cursor| cursor.to_string())).show()
}
