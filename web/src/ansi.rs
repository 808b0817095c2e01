//! Output with colours, as markup: the sequences of terminals for text, and nothing else of them.
//!
//! Output is other people's bytes. Every character is escaped here, and what is no colour or weight is dropped: titles, links and
//! movements of the cursor. Classes alone, so that the policy of the pages allows them.

use crate::svg::Escaped;
use std::fmt::Write;

/// How text looks now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    struck: bool,
    reversed: bool,
    front: Option<u8>,
    back: Option<u8>,
}

impl Look {
    fn classes(self) -> String {
        let on = [
            (self.bold, "b"),
            (self.dim, "d"),
            (self.italic, "i"),
            (self.underline, "u"),
            (self.struck, "s"),
            (self.reversed, "rev"),
        ];
        let mut all: Vec<String> =
            on.into_iter().filter(|(on, _)| *on).map(|(_, class)| class.to_owned()).collect();
        all.extend(self.front.map(|colour| format!("f{colour}")));
        all.extend(self.back.map(|colour| format!("g{}", colour % 8)));
        all.join(" ")
    }

    /// Takes the numbers of one sequence `ESC [ … m`.
    fn select(&mut self, numbers: &str) {
        let mut numbers = numbers.split([';', ':']).map(|number| number.parse().unwrap_or(0_u16));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                7 => self.reversed = true,
                9 => self.struck = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.reversed = false,
                29 => self.struck = false,
                30..=37 => self.front = u8::try_from(number - 30).ok(),
                39 => self.front = None,
                40..=47 => self.back = u8::try_from(number - 40).ok(),
                49 => self.back = None,
                90..=97 => self.front = u8::try_from(number - 82).ok(),
                100..=107 => self.back = u8::try_from(number - 92).ok(),
                38 | 48 => {
                    let colour = match numbers.next() {
                        Some(5) => numbers.next().map(of_256),
                        Some(2) => of_rgb([0; 3].map(|_: u8| numbers.next().unwrap_or(0))),
                        _ => None,
                    };
                    *(if number == 38 { &mut self.front } else { &mut self.back }) = colour;
                }
                _ => {}
            }
        }
    }
}

/// The nearest of the sixteen colours.
fn of_256(number: u16) -> u8 {
    match number {
        0..=15 => u8::try_from(number).unwrap_or(7),
        16..=231 => {
            let cube = number - 16;
            of_rgb([cube / 36, cube / 6 % 6, cube % 6].map(|part| part * 51)).unwrap_or(7)
        }
        232..=243 => 8,
        _ => 7,
    }
}

fn of_rgb(parts: [u16; 3]) -> Option<u8> {
    let [red, green, blue] = parts.map(|part| u8::from(part >= 128));
    let bright = parts.iter().any(|part| *part >= 200);
    Some(red + 2 * green + 4 * blue + if bright { 8 } else { 0 })
}

/// Text without its sequences, and how it looks.
pub(crate) fn runs(text: &str, look: &mut Look, mut each: impl FnMut(&str, Look)) {
    let mut rest = text;
    while let Some(at) = rest.find(['\x1b', '\r']) {
        let (before, from) = rest.split_at(at);
        if !before.is_empty() {
            each(before, *look);
        }
        rest = if let Some(after) = from.strip_prefix('\r') {
            // A line that is written over is shown as two.
            if !after.starts_with('\n') {
                each("\n", *look);
            }
            after
        } else {
            after_sequence(from, look)
        };
    }
    if !rest.is_empty() {
        each(rest, *look);
    }
}

/// What comes after the sequence at the start of `text`; one that is cut off is dropped.
fn after_sequence<'a>(text: &'a str, look: &mut Look) -> &'a str {
    let body = text.get(1..).unwrap_or_default();
    if let Some(numbers) = body.strip_prefix('[') {
        let Some(end) = numbers.find(|c: char| ('\x40'..='\x7e').contains(&c)) else { return "" };
        let (numbers, rest) = numbers.split_at(end);
        if rest.starts_with('m') {
            look.select(numbers);
        }
        return rest.get(1..).unwrap_or_default();
    }
    // Titles and links: to their end, which is BEL or ESC \\; another sequence ends them, too.
    if body.starts_with([']', 'P', '_', '^', 'X']) {
        let Some(end) = body.find(['\x07', '\x1b']) else { return "" };
        let rest = body.get(end..).unwrap_or_default();
        let closed = rest.strip_prefix('\x07').or_else(|| rest.strip_prefix("\x1b\\"));
        return closed.unwrap_or(rest);
    }
    let mut rest = body.chars();
    rest.next();
    rest.as_str()
}

/// Text as markup.
pub(crate) fn markup(text: &str, look: &mut Look, to: &mut String) {
    runs(text, look, |text, look| {
        let shown: String =
            text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        // Into a string: it cannot fail.
        let _ = match look.classes() {
            plain if plain.is_empty() => write!(to, "{}", Escaped(&shown)),
            classes => write!(to, r#"<span class="{classes}">{}</span>"#, Escaped(&shown)),
        };
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::repeat_n;

    fn shown(text: &str) -> String {
        let (mut look, mut html) = (Look::default(), String::new());
        markup(text, &mut look, &mut html);
        html
    }

    #[test]
    fn colours_and_weights_are_classes() {
        assert_eq!(shown("a\x1b[1;31mred\x1b[0m b"), r#"a<span class="b f1">red</span> b"#);
        assert_eq!(shown("\x1b[97;44mx\x1b[39;49my"), r#"<span class="f15 g4">x</span>y"#);
        assert_eq!(shown("\x1b[38;5;196mx"), r#"<span class="f9">x</span>"#);
        assert_eq!(shown("\x1b[38;2;0;140;0mx\x1b[mz"), r#"<span class="f2">x</span>z"#);
    }

    #[test]
    fn markup_in_output_is_text() {
        assert_eq!(shown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(shown("\x1b[31m\"><img>"), r#"<span class="f1">&quot;&gt;&lt;img&gt;</span>"#);
    }

    #[test]
    fn all_other_sequences_and_control_characters_are_dropped() {
        assert_eq!(
            shown("\x1b]0;title\x07a\x1b]8;;http://evil\x1b\\b\x1b[2Kc\x1b[?25ld\x1bMe\x00\x07f"),
            "abcdef"
        );
        assert_eq!(shown("10%\r20%\r\nend"), "10%\n20%\nend");
        for cut in
            ["\x1b", "\x1b[", "\x1b[38;5", "\x1b]8;;", "\x1b[38;5m", "\x1b[99999999m", "\x1bü"]
        {
            assert_eq!(shown(cut), "", "{cut:?}");
        }
    }

    #[test]
    fn a_look_goes_on_in_the_next_piece() {
        let (mut look, mut html) = (Look::default(), String::new());
        for piece in ["\x1b[32ma", "b", "\x1b[0mc"] {
            markup(piece, &mut look, &mut html);
        }
        assert_eq!(html, r#"<span class="f2">a</span><span class="f2">b</span>c"#);
    }

    #[test]
    fn many_sequences_cost_no_more_than_their_length() {
        let text: String = repeat_n("\x1b[1m\x1b]x\x1b\\", 50_000).collect();
        assert_eq!(shown(&text), "");
    }
}
