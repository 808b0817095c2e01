//! One thing, a line for each of its fields.

use super::cell;
use std::fmt;

/// Longest value; what is longer is cut.
const VALUE_MAX: usize = 200;

/// Names and values, in order.
#[derive(Debug, Default)]
pub struct Details {
    rows: Vec<(&'static str, String)>,
}

impl Details {
    /// Adds a field.
    pub fn row(&mut self, name: &'static str, value: impl fmt::Display) {
        self.rows.push((name, cell::fitted(&value.to_string(), VALUE_MAX)));
    }

    /// Adds a field where there is a value.
    pub fn some(&mut self, name: &'static str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.row(name, value);
        }
    }
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        self.rows.iter().try_for_each(|(name, value)| writeln!(f, "{name:<width$}  {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_aligned_and_missing_ones_left_out() {
        let mut details = Details::default();
        details.row("id", 7);
        details.some("name", None::<&str>);
        details.some("exit code", Some(2));
        assert_eq!(details.to_string(), "id         7\nexit code  2\n");
    }
}
