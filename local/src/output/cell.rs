//! Makes text of customers fit for a terminal.
//!
//! Names, labels and arguments may hold anything: a control character in one would move the cursor or worse, so none
//! ever reaches a table.

/// Text with control characters written out, as in `\n`.
pub fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .flat_map(|c| if hidden(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}

/// The same in at most `width` characters, with an ellipsis where it was cut.
pub fn fitted(text: &str, width: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A word of a command line, in quotes where it needs some. For reading, not for pasting.
pub fn word(text: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(bare) {
        text.to_owned()
    } else {
        format!("'{}'", plain(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_gets_through() {
        assert_eq!(plain("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(plain("zwölf \u{202e}"), "zwölf \\u{202e}");
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(fitted("abcdef", 6), "abcdef");
        assert_eq!(fitted("abcdefg", 6), "abcde…");
    }

    #[test]
    fn words_are_quoted_where_they_need_it() {
        assert_eq!(["a-b/c.d", "a b", "", "--x=1"].map(word), ["a-b/c.d", "'a b'", "''", "--x=1"]);
    }
}
