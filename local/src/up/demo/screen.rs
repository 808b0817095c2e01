//! The rows of the show: drawn again and again in one place on a terminal, a line for each change elsewhere.

use crate::failure::Failure;
use crate::output::{self, cell};
use client::Extensible;
use domain::task::State;
use std::io::IsTerminal;
use std::time::Duration;

/// Widths of all columns but the last.
const WIDTHS: [usize; 4] = [16, 11, 5, 8];
/// Longest last column: a line must not wrap, or it cannot be drawn over.
const OUTPUT_MAX: usize = 36;

/// What is shown of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub state: Extensible<State>,
    pub attempts: u32,
    pub output: String,
    /// Since its submit, until its end.
    pub age: Duration,
}

/// Where the rows go.
#[derive(Debug)]
pub struct Screen {
    terminal: bool,
    shown: Vec<Row>,
}

impl Screen {
    /// Standard output.
    pub fn new() -> Self {
        Self { terminal: std::io::stdout().is_terminal(), shown: Vec::new() }
    }

    /// Shows the rows as they are now.
    pub fn draw(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let text = self.text(rows);
        self.shown = rows.to_vec();
        if text.is_empty() { Ok(()) } else { output::text(&text) }
    }

    fn text(&self, rows: &[Row]) -> String {
        let mut text = String::new();
        if self.shown.is_empty() {
            let head = ["TASK", "STATE", "TRY", "AFTER", "WROTE"].map(str::to_owned);
            text.push_str(&format!("\n{}\n", line(&head)));
        } else if self.terminal {
            text.push_str(&format!("\u{1b}[{}A", self.shown.len()));
        }
        for (at, row) in rows.iter().enumerate() {
            if self.terminal {
                text.push_str(&format!("\u{1b}[2K{}\n", coloured(row)));
            } else if self.shown.get(at).is_none_or(|before| differs(before, row)) {
                text.push_str(&format!("{}\n", line(&cells(row))));
            }
        }
        text
    }
}

/// Whether there is something to say; time passes anyway.
fn differs(before: &Row, now: &Row) -> bool {
    (&before.state, before.attempts, &before.output) != (&now.state, now.attempts, &now.output)
}

fn cells(row: &Row) -> [String; 5] {
    [
        row.name.clone(),
        row.state.to_string(),
        row.attempts.to_string(),
        format!("{:.1}s", row.age.as_secs_f64()),
        row.output.clone(),
    ]
}

fn line(cells: &[String; 5]) -> String {
    let [first @ .., last] = cells;
    let fitted =
        |(text, width): (&String, usize)| format!("{:<width$}  ", cell::fitted(text, width));
    let mut line: String = first.iter().zip(WIDTHS).map(fitted).collect();
    line.push_str(&cell::fitted(last, OUTPUT_MAX));
    format!("  {}", line.trim_end())
}

fn coloured(row: &Row) -> String {
    let colour = match row.state.known() {
        Some(State::Succeeded) => 32,
        Some(State::Running) => 36,
        Some(State::Retrying | State::Cancelling) => 33,
        Some(state) if state.is_terminal() => 31,
        _ => 90,
    };
    format!("\u{1b}[{colour}m{}\u{1b}[0m", line(&cells(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: State, age_s: u64) -> Row {
        Row {
            name: "hello".to_owned(),
            state: state.into(),
            attempts: 1,
            output: String::new(),
            age: Duration::from_secs(age_s),
        }
    }

    #[test]
    fn without_a_terminal_only_changes_are_written() {
        let mut screen = Screen { terminal: false, shown: Vec::new() };
        let first = [row(State::Ready, 0), row(State::Running, 0)];
        assert_eq!(screen.text(&first).lines().count(), 4, "an empty line, the head and two rows");
        screen.shown = first.to_vec();
        let second = [row(State::Succeeded, 1), row(State::Running, 1)];
        assert_eq!(
            screen.text(&second),
            "  hello             succeeded    1      1.0s\n",
            "{screen:?}"
        );
        screen.shown = second.to_vec();
        assert_eq!(screen.text(&[row(State::Succeeded, 2), row(State::Running, 2)]), "");
    }

    #[test]
    fn on_a_terminal_rows_are_drawn_over() {
        let mut screen = Screen { terminal: true, shown: Vec::new() };
        let rows = [row(State::Ready, 0), row(State::Running, 0)];
        screen.shown = rows.to_vec();
        assert!(screen.text(&rows).starts_with("\u{1b}[2A\u{1b}[2K"));
    }
}
