//! An invoice as CSV (RFC 4180): a row a line, and the total last. Amounts are in units of the currency.

use api_types::Invoice;
use domain::price::{Currency, Micros};

const HEAD: &str = "invoice,line,kind,description,tier,quantity,unit_price,amount,currency";

/// The invoice as CSV.
pub(crate) fn csv(invoice: &Invoice) -> String {
    let digits = invoice.currency.parse().map_or(2, Currency::digits);
    let amount = |micros: i64| Micros(micros).in_units(digits);
    let mut text = format!("{HEAD}\r\n");
    let mut row = |cells: [String; 8]| {
        let cells = cells.map(|cell| field(&cell)).join(",");
        text.push_str(&format!("{},{cells}\r\n", invoice.number));
    };
    for line in &invoice.lines {
        let kind = line.kind.known().map_or("other", |kind| kind.as_str());
        row([
            line.line.to_string(),
            kind.to_owned(),
            line.description.clone(),
            line.tier.clone().unwrap_or_default(),
            line.quantity.map(|quantity| quantity.to_string()).unwrap_or_default(),
            line.unit_price.map(amount).unwrap_or_default(),
            amount(line.amount),
            invoice.currency.clone(),
        ]);
    }
    let empty = String::new;
    let total = amount(invoice.total);
    row([
        empty(),
        "total".into(),
        "Total".into(),
        empty(),
        empty(),
        empty(),
        total,
        invoice.currency.clone(),
    ]);
    text
}

/// A field, in quotes where it needs them. What a spreadsheet would compute is text.
fn field(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let computed = !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if computed { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invoice::pdf::example;

    #[test]
    fn an_invoice_is_a_row_a_line_and_a_total() {
        let mut invoice = example(2);
        invoice.lines[1].description = "Credit: =1+1, \"sorry\"".to_owned();
        invoice.lines[1].amount = -1_500_000;
        let text = csv(&invoice);
        let lines: Vec<_> = text.split("\r\n").collect();
        assert_eq!(lines[0], HEAD);
        assert_eq!(
            lines[1],
            "2030-01-0007,1,attempts,\"Attempts, tier basic\",basic,1000,0.03125,31.25,EUR"
        );
        assert_eq!(
            lines[2],
            "2030-01-0007,2,attempts,\"Credit: =1+1, \"\"sorry\"\"\",basic,1001,,-1.50,EUR"
        );
        assert_eq!(lines[3], "2030-01-0007,,total,Total,,,,62.50,EUR");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(field("-1.50"), "-1.50");
    }
}
