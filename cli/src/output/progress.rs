//! One line on standard error that says how far a long command is; nothing where that is no terminal.

use runtime::clock::{Instant, monotonic};
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// The line.
pub struct Progress {
    done: &'static str,
    total: Option<usize>,
    shown: bool,
    next: Option<Instant>,
}

impl Progress {
    /// Towards `total` tasks, where that is known; `done` is what they are then.
    pub fn new(done: &'static str, total: Option<usize>) -> Self {
        Self { done, total, shown: false, next: stderr().is_terminal().then(monotonic) }
    }

    /// Says how far it is, ten times a second at most.
    pub fn show(&mut self, done: usize, refused: usize) {
        let now = monotonic();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        (self.next, self.shown) = (Some(now + EVERY), true);
        // Where it cannot be shown, it is not needed.
        let _unshown =
            write!(stderr().lock(), "\r\u{1b}[K{}", line(self.done, self.total, done, refused));
    }

    /// Takes the line away, for whatever else is to be said.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _unshown = write!(stderr().lock(), "\r\u{1b}[K");
        }
    }
}

fn line(word: &str, total: Option<usize>, done: usize, refused: usize) -> String {
    let all = done + refused;
    let refused = if refused > 0 { format!(", {refused} refused") } else { String::new() };
    match total.filter(|total| *total > 0) {
        None => format!("{done} {word}{refused}"),
        Some(total) => {
            let full = (all.min(total) * WIDTH) / total;
            format!(
                "[{}{}] {all}/{total}: {done} {word}{refused}",
                "#".repeat(full),
                " ".repeat(WIDTH - full)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_the_counts_are_told() {
        assert_eq!(line("stored", None, 7, 0), "7 stored");
        let half = line("stored", Some(10), 4, 1);
        assert!(
            half.starts_with(&format!("[{}{}]", "#".repeat(15), " ".repeat(15)))
                && half.ends_with("5/10: 4 stored, 1 refused"),
            "{half}"
        );
        assert!(line("stored", Some(2), 9, 0).starts_with(&format!("[{}]", "#".repeat(WIDTH))));
    }
}
