//! The metrics that the program declares, read from its source.
//!
//! Used by `observability.rs`. A scrape would not do: a series appears with its first event. All metrics are declared by the four
//! functions of `runtime::metrics`, with names and labels written out; a declaration that cannot be read here fails the test.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FUNCTIONS: [&str; 4] = ["counter", "gauge", "histogram", "histogram_with_buckets"];
/// Where these functions are, with calls of each other.
const THEIR_OWN: &str = "runtime/src/metrics/declare.rs";

/// A metric's labels, in order, and whether it is a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    pub labels: Vec<String>,
    pub is_histogram: bool,
}

/// What the program's source says.
#[derive(Default)]
pub struct Program {
    pub metrics: BTreeMap<String, Family>,
    /// String literals, and the names of types and variants as they are written into labels (`TimedOut`: `timed_out`).
    pub words: BTreeSet<String>,
}

impl Program {
    /// Reads the crates of the workspace, without their tests.
    pub fn read() -> Self {
        let mut program = Self::default();
        let root = testkit::settings::workspace();
        let mut files = Vec::new();
        for crate_folder in std::fs::read_dir(&root).expect("the workspace").flatten() {
            sources(&crate_folder.path().join("src"), &mut files);
        }
        assert!(files.len() > 100, "the crates are not where this test looks for them: {files:?}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let tokens: TokenStream =
                text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            program.walk(tokens, &file);
        }
        program
    }

    /// The family of a series' name, which for a histogram ends in `_bucket`, `_sum` or `_count`; and whether `le` is one of its labels.
    pub fn family_of(&self, series: &str) -> Option<(&Family, bool)> {
        if let Some(family) = self.metrics.get(series).filter(|family| !family.is_histogram) {
            return Some((family, false));
        }
        let (name, part) = series.rsplit_once('_')?;
        let family = self.metrics.get(name).filter(|family| family.is_histogram)?;
        ["bucket", "sum", "count"].contains(&part).then_some((family, part == "bucket"))
    }

    fn walk(&mut self, tokens: TokenStream, file: &Path) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(mark)
                    if mark.as_char() == '#' && is_of_tests(tokens.get(at + 1)) =>
                {
                    at = end_of_item(&tokens, at);
                    continue;
                }
                TokenTree::Ident(ident) => {
                    self.words.insert(snake_case(&ident.to_string()));
                    if let Some(TokenTree::Group(call)) = tokens.get(at + 1) {
                        self.note(&ident.to_string(), call.stream(), file);
                    }
                }
                TokenTree::Group(group) => self.walk(group.stream(), file),
                TokenTree::Literal(literal) => {
                    self.words.extend(text_of(&literal.to_string()));
                }
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn note(&mut self, function: &str, arguments: TokenStream, file: &Path) {
        if !FUNCTIONS.contains(&function) || file.ends_with(THEIR_OWN) {
            return;
        }
        let arguments = split(arguments);
        let Some(name) = arguments.first().and_then(|first| literal(first)) else { return };
        if !name.starts_with("berth_") {
            return;
        }
        let labels = arguments.get(2).and_then(|third| list(third)).unwrap_or_else(|| {
            panic!("{}: the labels of `{name}` are not written out", file.display())
        });
        let family = Family { labels, is_histogram: function.starts_with("histogram") };
        let before = self.metrics.insert(name.clone(), family.clone());
        assert!(before.is_none_or(|before| before == family), "`{name}` is declared in two ways");
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "tests" {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// Whether the attribute is `#[cfg(test)]`.
fn is_of_tests(attribute: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = attribute else { return false };
    group.delimiter() == Delimiter::Bracket
        && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// After the item that begins at `at`: its block, or its semicolon.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    tokens[at..].iter().position(is_end).map_or(tokens.len(), |length| at + length + 1)
}

/// The arguments of a call.
fn split(arguments: TokenStream) -> Vec<Vec<TokenTree>> {
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    arguments.split(is_comma).map(<[TokenTree]>::to_vec).collect()
}

fn literal(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [TokenTree::Literal(literal)] => text_of(&literal.to_string()),
        _ => None,
    }
}

/// `&["a", "b"]`.
fn list(tokens: &[TokenTree]) -> Option<Vec<String>> {
    match tokens {
        [TokenTree::Punct(_), TokenTree::Group(group)] => split(group.stream())
            .iter()
            .filter(|item| !item.is_empty())
            .map(|item| literal(item))
            .collect(),
        _ => None,
    }
}

/// What a literal says, when it is a plain string.
fn text_of(literal: &str) -> Option<String> {
    literal.strip_prefix('"')?.strip_suffix('"').map(str::to_owned)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
