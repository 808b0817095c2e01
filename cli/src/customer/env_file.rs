//! `--env-file`: variables of the command's environment, a line each, as `docker run --env-file` reads them.
//!
//! A line is `KEY=VALUE`; the value is all that follows, quotes and blanks included. A line `KEY` takes the value that this process has, and
//! nothing where it has none. Empty lines and those that begin with `#` are passed over.

use crate::failure::Failure;
use std::collections::BTreeMap;

/// The variables of `files`, each over the ones before it.
pub(super) fn read(files: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut variables = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
        for (name, value) in parse(&text, runtime::config::variable)
            .map_err(|(line, mistake)| Failure::usage(format!("{file}, line {line}: {mistake}")))?
        {
            variables.insert(name, value);
        }
    }
    Ok(variables)
}

type Mistake = (usize, &'static str);

fn parse(
    text: &str,
    own: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, Mistake> {
    let mut variables = Vec::new();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) =
            line.split_once('=').map_or((line.trim_end(), None), |(n, v)| (n, Some(v)));
        if name.is_empty() {
            return Err((at + 1, "a variable without a name"));
        }
        if name.contains(char::is_whitespace) {
            return Err((at + 1, "a variable name with a blank"));
        }
        let value = value.map(str::to_owned).or_else(|| own(name));
        variables.extend(value.map(|value| (name.to_owned(), value)));
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, Mistake> {
        parse(text, |name| (name == "HAS").then(|| "own".to_owned()))
    }

    #[test]
    fn lines_are_read_as_docker_reads_them() {
        let text = "# a comment\n\nA=1\r\n  B= two words # no comment\nC=\"in quotes\"\nD=x=y\nE=\nHAS\nHAS_NOT\n";
        let wanted = [
            ("A", "1"),
            ("B", " two words # no comment"),
            ("C", "\"in quotes\""),
            ("D", "x=y"),
            ("E", ""),
            ("HAS", "own"),
        ];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(text).unwrap(), wanted);
    }

    #[test]
    fn what_is_no_variable_is_named_with_its_line() {
        assert_eq!(read("A=1\n=x"), Err((2, "a variable without a name")));
        assert_eq!(read("\nexport A=1").unwrap_err().0, 2);
    }
}
