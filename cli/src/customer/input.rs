//! `--stdin`: what the task reads on its standard input. A text, a file (`@FILE`), or this command's own standard input (`-`).
//!
//! Own input is read only where it is asked for, and never from a terminal: under cron, in CI or in a loop over ssh, standard input is often a pipe
//! that nobody closes. What is read is bounded, so that an endless one is refused and not collected.

use crate::failure::Failure;
use std::io::{IsTerminal, Read, stdin};

/// Bytes that are read at most: what no installation takes in one task.
const MOST: u64 = 16 * 1024 * 1024;

/// The text that `given` stands for.
pub(super) fn text(given: &str) -> Result<String, Failure> {
    if given == "-" {
        let input = stdin();
        if input.is_terminal() {
            return Err(Failure::usage(
                "--stdin - needs piped input, but standard input is a terminal; pipe a file or use --stdin @FILE",
            ));
        }
        return bounded(input.lock(), "standard input");
    }
    match given.strip_prefix('@') {
        Some(file) => {
            let opened = std::fs::File::open(file);
            bounded(opened.map_err(|error| unreadable(file, &error))?, file)
        }
        None => Ok(given.to_owned()),
    }
}

fn bounded(input: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = input.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MOST {
        return Err(Failure::usage(format!(
            "{name} is larger than {MOST} bytes, the limit of a task; let the task download its data"
        )));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        Failure::usage(format!(
            "{name} is not UTF-8 text; encode it (base64) and decode it in the task"
        ))
    })
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_itself_and_a_file_is_its_content() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\ntwo\n").unwrap();
        assert_eq!(text("one two").unwrap(), "one two");
        assert_eq!(text(&format!("@{}", file.path().display())).unwrap(), "one\ntwo\n");
        std::fs::write(file.path(), [0xff, 0x00]).unwrap();
        assert!(text(&format!("@{}", file.path().display())).is_err());
        assert!(text("@/none/of/this/name").is_err());
    }

    #[test]
    fn an_input_without_an_end_is_refused_and_not_collected() {
        let endless = std::io::repeat(b'x');
        assert!(bounded(endless, "standard input").unwrap_err().to_string().contains("16777216"));
    }
}
