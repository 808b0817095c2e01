//! An error with all its causes on one line.
//!
//! Used where an error is handled and logged: the outer sentence alone ("cannot claim tasks") never
//! says what to fix. A cause that its parent already quotes is not repeated.

use std::error::Error;
use std::fmt;

/// Shows `error: cause: cause of the cause`.
#[derive(Clone, Copy)]
pub struct ErrorChain<'a>(pub &'a (dyn Error + 'a));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.0.to_string();
        f.write_str(&last)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !last.ends_with(&text) {
                write!(f, ": {text}")?;
            }
            last = text;
            source = cause.source();
        }
        Ok(())
    }
}

impl fmt::Debug for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Step {
        text: &'static str,
        source: Option<Box<Step>>,
    }

    #[test]
    fn causes_are_shown_once() {
        let root = Step { text: "refused", source: None };
        let quoted = Step { text: "cannot connect: refused", source: Some(Box::new(root)) };
        let outer = Step { text: "cannot claim", source: Some(Box::new(quoted)) };
        assert_eq!(ErrorChain(&outer).to_string(), "cannot claim: cannot connect: refused");
    }
}
