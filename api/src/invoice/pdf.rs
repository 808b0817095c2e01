//! An invoice as a PDF that can be sent: who sends it to whom, its number and dates, a table of its lines, what is to be paid.

use super::font::{Face, wrapped};
use super::paper::{HEIGHT, LEFT, Paper, RIGHT, Side, Style};
use api_types::{DateTime, Invoice, InvoiceLine};
use domain::invoice::{BillingZone, InvoiceState};
use domain::price::{Currency, Micros};

/// Where columns begin, or end where they are numbers.
const DESCRIPTION: f32 = LEFT + 26.0;
const QUANTITY: f32 = RIGHT - 190.0;
const UNIT_PRICE: f32 = RIGHT - 95.0;
const AMOUNT: f32 = RIGHT - 6.0;
/// How wide a description may be.
const DESCRIPTION_WIDTH: f32 = QUANTITY - 70.0 - DESCRIPTION;
const LINE: f32 = 13.0;
/// Nothing but the footer is below this.
const BOTTOM: f32 = 70.0;
/// What the totals need.
const TOTALS: f32 = 80.0;

/// A page in the making: what is drawn next goes to `y`.
struct Sheet<'a> {
    paper: Paper,
    y: f32,
    invoice: &'a Invoice,
    digits: u16,
    zone: BillingZone,
}

/// The invoice as a PDF.
pub(crate) fn pdf(invoice: &Invoice) -> Vec<u8> {
    let mut sheet = Sheet {
        paper: Paper::new(),
        y: HEIGHT - 70.0,
        invoice,
        digits: invoice.currency.parse().map_or(2, Currency::digits),
        zone: invoice.zone.parse().unwrap_or_default(),
    };
    sheet.head();
    sheet.parties();
    sheet.columns();
    invoice.lines.iter().for_each(|line| sheet.line(line));
    sheet.totals();
    let kind = if invoice.state == InvoiceState::Draft { "Draft invoice" } else { "Invoice" };
    sheet.paper.finish(&format!("{kind} {}", invoice.number))
}

impl Sheet<'_> {
    fn amount(&self, micros: i64) -> String {
        grouped(&Micros(micros).in_units(self.digits))
    }

    fn day(&self, at: DateTime) -> String {
        self.zone.day_of(at).to_string()
    }

    fn head(&mut self) {
        let title = match self.invoice.state.known() {
            Some(InvoiceState::Draft) => "DRAFT INVOICE",
            Some(InvoiceState::Void) => "VOID INVOICE",
            Some(InvoiceState::Paid) => "INVOICE (PAID)",
            _ => "INVOICE",
        };
        self.paper.text((RIGHT, self.y), Side::Right, Style::TITLE, title);
        let mut y = self.y + 8.0;
        for (at, line) in self.invoice.seller.lines().take(12).enumerate() {
            let style = if at == 0 { Style { size: 12.0, ..Style::BOLD } } else { Style::PLAIN };
            self.paper.text((LEFT, y), Side::Left, style, line);
            y -= if at == 0 { 16.0 } else { LINE };
        }
        self.y = y.min(self.y - 30.0) - 24.0;
    }

    fn parties(&mut self) {
        let invoice = self.invoice;
        let top = self.y;
        self.paper.text((LEFT, top), Side::Left, Style::SMALL, "BILL TO");
        let mut left = top - 15.0;
        let name = invoice.customer.name.as_deref().unwrap_or("-");
        let address = invoice.customer.address.as_deref().unwrap_or_default();
        let whom =
            wrapped(name, Face::Bold, 9.0, 230.0).into_iter().map(|line| (line, Style::BOLD));
        let where_to = address.lines().take(12);
        let where_to = where_to.flat_map(|line| wrapped(line, Face::Plain, 9.0, 230.0));
        for (line, style) in whom.chain(where_to.map(|line| (line, Style::PLAIN))) {
            self.paper.text((LEFT, left), Side::Left, style, &line);
            left -= LINE;
        }
        let last = invoice.ends_at - chrono::TimeDelta::seconds(1);
        let none = || "-".to_owned();
        let mut facts = vec![
            (
                "Number",
                if invoice.state == InvoiceState::Draft { none() } else { invoice.number.clone() },
            ),
            ("Date", invoice.finalized_at.map_or_else(none, |at| self.day(at))),
            ("From", self.day(invoice.starts_at)),
            ("To", self.day(last)),
            ("Time zone", invoice.zone.clone()),
            ("Currency", invoice.currency.clone()),
        ];
        facts.extend(invoice.paid_at.map(|at| ("Paid on", self.day(at))));
        facts.extend(invoice.voided_at.map(|at| ("Void since", self.day(at))));
        let mut right = top;
        for (name, value) in facts {
            self.paper.text((RIGHT - 190.0, right), Side::Left, Style::SMALL, name);
            self.paper.text((RIGHT, right), Side::Right, Style::PLAIN, &value);
            right -= LINE;
        }
        self.y = left.min(right) - 24.0;
    }

    /// The names of the columns.
    fn columns(&mut self) {
        self.paper.band(self.y - 6.0, 19.0);
        for (x, side, name) in [
            (LEFT + 6.0, Side::Left, "#"),
            (DESCRIPTION, Side::Left, "Description"),
            (QUANTITY, Side::Right, "Quantity"),
            (UNIT_PRICE, Side::Right, "Unit price"),
            (AMOUNT, Side::Right, "Amount"),
        ] {
            self.paper.text((x, self.y), side, Style::BOLD, name);
        }
        self.y -= 22.0;
    }

    /// Another page, where less than this is left of the present one.
    fn room(&mut self, height: f32, with_columns: bool) {
        if self.y - height > BOTTOM {
            return;
        }
        self.paper.turn();
        self.y = HEIGHT - 70.0;
        if with_columns {
            self.columns();
        }
    }

    fn line(&mut self, line: &InvoiceLine) {
        let description = wrapped(&line.description, Face::Plain, 9.0, DESCRIPTION_WIDTH);
        self.room(LINE * description.len() as f32 + 6.0, true);
        let quantity = line.quantity.map(|quantity| grouped(&quantity.to_string()));
        // Where prices differ it is what each costs on average, and says so.
        let average = || {
            let quantity = line.quantity.filter(|quantity| *quantity > 0)?;
            Some(format!("avg {}", self.amount(line.amount / quantity)))
        };
        let unit_price = line.unit_price.map(|price| self.amount(price)).or_else(average);
        let amount = self.amount(line.amount);
        for (x, text) in [
            (QUANTITY, quantity.unwrap_or_default()),
            (UNIT_PRICE, unit_price.unwrap_or_default()),
            (AMOUNT, amount),
        ] {
            self.paper.text((x, self.y), Side::Right, Style::PLAIN, &text);
        }
        let number = line.line.to_string();
        self.paper.text((LEFT + 6.0, self.y), Side::Left, Style::SMALL, &number);
        for text in description {
            self.paper.text((DESCRIPTION, self.y), Side::Left, Style::PLAIN, &text);
            self.y -= LINE;
        }
        self.paper.rule(self.y + 5.0, 0.88);
        self.y -= 7.0;
    }

    fn totals(&mut self) {
        self.room(TOTALS, false);
        self.y -= 10.0;
        self.paper.rule(self.y + 16.0, 0.3);
        let invoice = self.invoice;
        let total = format!("{} {}", self.amount(invoice.total), invoice.currency);
        self.paper.text((UNIT_PRICE - 60.0, self.y), Side::Right, Style::TOTAL, "Total");
        self.paper.text((AMOUNT, self.y), Side::Right, Style::TOTAL, &total);
        if invoice.refunded != 0 {
            self.y -= 18.0;
            let refunded = format!("{} {}", self.amount(invoice.refunded), invoice.currency);
            self.paper.text((UNIT_PRICE - 60.0, self.y), Side::Right, Style::PLAIN, "Refunded");
            self.paper.text((AMOUNT, self.y), Side::Right, Style::PLAIN, &refunded);
        }
        self.y -= 26.0;
        let note = "Lines are exact. The total is rounded once, half to even, to the currency's smallest unit.";
        self.paper.text((LEFT, self.y), Side::Left, Style::SMALL, note);
    }
}

/// A number with spaces between thousands: `1 234 567.89`.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    if let Some(fraction) = fraction {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// An invoice with as many lines.
#[cfg(test)]
pub(super) fn example(lines: u32) -> Invoice {
    use api_types::InvoiceCustomer;
    use domain::invoice::LineKind;
    let time = |text: &str| domain::time::parse_time(text).unwrap();
    let line = |line| InvoiceLine {
        line,
        kind: LineKind::Attempts.into(),
        description: "Attempts, tier basic".into(),
        tier: Some("basic".into()),
        quantity: Some(999 + i64::from(line)),
        unit_price: (line % 2 == 1).then_some(31_250),
        amount: 31_250_000,
        credit: None,
    };
    Invoice {
        number: "2030-01-0007".into(),
        state: InvoiceState::Final.into(),
        month: "2030-01-01".parse().unwrap(),
        zone: "Europe/Berlin".into(),
        starts_at: time("2029-12-31T23:00:00Z"),
        ends_at: time("2030-01-31T23:00:00Z"),
        currency: "EUR".into(),
        total: 31_250_000 * i64::from(lines),
        refunded: 0,
        seller: "Berth Cloud GmbH\nHafenstraße 1\n20095 Hamburg\nVAT DE123456789".into(),
        customer: InvoiceCustomer {
            name: Some("Société Générale d'Exemples".into()),
            address: Some("12 rue de l'Œuvre\n75002 Paris\nFrance".into()),
        },
        lines: (1..=lines).map(line).collect(),
        finalized_at: Some(time("2030-02-01T00:00:05Z")),
        paid_at: None,
        voided_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a text is in the document, as strings are written: those that are not ASCII by their bytes.
    fn count(pdf: &[u8], text: &str) -> usize {
        let bytes = super::super::font::encoded(text);
        let written = if text.is_ascii() {
            format!("({text})")
        } else {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("<{hex}>")
        };
        pdf.windows(written.len()).filter(|window| *window == written.as_bytes()).count()
    }

    #[test]
    fn an_invoice_says_who_owes_whom_what_and_why() {
        let pdf = pdf(&example(2));
        assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"));
        for text in [
            "INVOICE",
            "Berth Cloud GmbH",
            "Hafenstraße 1",
            "12 rue de l'Œuvre",
            "2030-01-0007",
            "2030-02-01",
            "2030-01-31",
            "Europe/Berlin",
            "Attempts, tier basic",
            "1 001",
            "0.03125",
            "31.25",
            "62.50 EUR",
            "Page 1 of 1",
        ] {
            assert!(count(&pdf, text) > 0, "{text}");
        }
    }

    #[test]
    fn many_lines_take_many_pages_each_with_its_number_and_the_columns() {
        let pdf = pdf(&example(100));
        let pages = count(&pdf, "Description");
        assert!(pages >= 3, "{pages}");
        assert_eq!(count(&pdf, &format!("Page {pages} of {pages}")), 1);
        assert_eq!(count(&pdf, "Attempts, tier basic"), 100, "each line once");
        assert_eq!(count(&pdf, "3 125.00 EUR"), 1);
    }

    #[test]
    fn how_it_stands_is_its_title() {
        for (state, title) in [
            (InvoiceState::Draft, "DRAFT INVOICE"),
            (InvoiceState::Void, "VOID INVOICE"),
            (InvoiceState::Paid, "INVOICE (PAID)"),
        ] {
            let invoice = Invoice { state: state.into(), ..example(1) };
            assert_eq!(count(&pdf(&invoice), title), 1, "{state}");
        }
    }

    #[test]
    fn thousands_are_apart() {
        let shown = ["0", "999", "1000", "-1234567.891", "12345.6"].map(grouped);
        assert_eq!(shown, ["0", "999", "1 000", "-1 234 567.891", "12 345.6"]);
    }
}
