//! Aligned columns.
//!
//! A table may be written page by page: widths are kept from page to page and never shrink, and the head is written
//! once.

use super::{cell, paint};

/// Longest cell; what is longer is cut.
const CELL_MAX: usize = 48;

/// Columns under a head.
#[derive(Debug)]
pub struct Table<const N: usize> {
    widths: [usize; N],
    rows: Vec<[String; N]>,
    /// Column with states, which have colours.
    states: Option<usize>,
}

impl<const N: usize> Table<N> {
    /// An empty table with its head.
    pub fn new(head: [&str; N]) -> Self {
        Self { widths: [0; N], rows: vec![head.map(str::to_owned)], states: None }
    }

    /// The same with the column `STATE` in colours, where there may be any.
    pub fn with_states(mut self) -> Self {
        let column =
            self.rows.first().and_then(|head| head.iter().position(|name| name == "STATE"));
        self.states = column.filter(|_| paint::on_output());
        self
    }

    /// The same with columns of at least these widths, for rows that are to come.
    pub fn at_least(mut self, widths: [usize; N]) -> Self {
        self.widths = widths.map(|width| width.min(CELL_MAX));
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|text| cell::fitted(&text, CELL_MAX)));
    }

    /// What was added since the last time, as lines. The first time begins with the head.
    pub fn take(&mut self) -> String {
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        rows.iter().map(|row| self.line(row)).collect()
    }

    fn line(&self, row: &[String; N]) -> String {
        let padded = row.iter().zip(&self.widths).enumerate().map(|(column, (cell, width))| {
            let padded = format!("{cell:<width$}");
            if self.states == Some(column) { paint::painted(&padded, cell) } else { padded }
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(a: &str, b: &str) -> [String; 2] {
        [a.to_owned(), b.to_owned()]
    }

    #[test]
    fn columns_are_aligned_by_characters_and_lines_have_no_trailing_blanks() {
        let mut table = Table::new(["NAME", "AGE"]);
        table.row(row("zwölf", "1s"));
        table.row(row("b", ""));
        assert_eq!(table.take(), "NAME   AGE\nzwölf  1s\nb\n");
    }

    #[test]
    fn the_head_is_written_once_and_pages_stay_aligned() {
        let mut table = Table::new(["NAME", "AGE"]);
        table.row(row("a long name", "1s"));
        table.take();
        table.row(row("b", "2s"));
        assert_eq!(table.take(), "b            2s\n");
        assert_eq!(table.take(), "");
    }

    #[test]
    fn an_empty_table_is_its_head() {
        assert_eq!(Table::new(["NAME", "AGE"]).take(), "NAME  AGE\n");
    }

    #[test]
    fn a_cell_stays_on_its_line_whatever_it_holds() {
        let mut table = Table::new(["NAME", "AGE"]);
        table.row(row("a\nb\u{1b}[0m", "1s"));
        assert_eq!(table.take().lines().count(), 2);
    }
}
