//! What differs between two texts, line by line: for two versions of a definition.

use similar::{ChangeTag, TextDiff};

/// Lines that stay the same on each side of a change.
const AROUND: usize = 3;
/// The longest a comparison may take: beyond it the lines are shown as replaced.
const DEADLINE: std::time::Duration = std::time::Duration::from_millis(200);

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine {
    /// `add`, `gone`, `same`, or `gap`: lines between changes were left out.
    pub tone: &'static str,
    /// `+`, `-` or a space.
    pub sign: &'static str,
    /// The same for those who do not see colours and signs; empty for lines that stay.
    pub word: &'static str,
    pub text: String,
}

/// The lines that differ with some around them; none where nothing differs.
pub(crate) fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().timeout(DEADLINE).diff_lines(old, new);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        if !lines.is_empty() {
            let text = "\u{2026}".to_owned();
            lines.push(DiffLine { tone: "gap", sign: " ", word: "", text });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (tone, sign, word) = match change.tag() {
                ChangeTag::Insert => ("add", "+", "added: "),
                ChangeTag::Delete => ("gone", "\u{2212}", "removed: "),
                ChangeTag::Equal => ("same", " ", ""),
            };
            let text = change.value().trim_end_matches('\n').to_owned();
            lines.push(DiffLine { tone, sign, word, text });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_left_with_some_lines_around_it() {
        let text = |changed: &str| {
            (0..20)
                .map(|n| if n == 10 { changed.to_owned() } else { n.to_string() })
                .collect::<Vec<_>>()
                .join("\n")
        };
        let found = lines(&text("a"), &text("b"));
        let short: Vec<String> =
            found.iter().map(|line| format!("{}{}", line.sign, line.text)).collect();
        assert_eq!(short, [" 7", " 8", " 9", "\u{2212}a", "+b", " 11", " 12", " 13"]);
        assert!(lines("a\n", "a\n").is_empty());
    }

    #[test]
    fn changes_far_apart_have_a_gap_between_them() {
        let text = |end: &str| {
            (0..30)
                .map(|n| if n % 29 == 0 { end.to_owned() } else { n.to_string() })
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(
            lines(&text("a"), &text("b")).iter().filter(|line| line.tone == "gap").count(),
            1
        );
    }
}
