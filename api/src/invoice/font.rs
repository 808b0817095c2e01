//! Helvetica, which every reader of PDF has: how texts are encoded for it, and how wide they are.
//!
//! Widths are those of Adobe's font metrics, in thousandths of the size. Letters beyond ASCII are taken for as wide as a digit, which
//! is near enough to break lines by; amounts have none.

/// A face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Bold,
}

/// Of the characters from space to tilde.
const PLAIN: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];
const OTHERS: u16 = 556;

/// What Windows-1252 has from 0x80 on, where it differs from Latin-1.
const SPECIAL: [(char, u8); 27] = [
    ('€', 0x80),
    ('‚', 0x82),
    ('ƒ', 0x83),
    ('„', 0x84),
    ('…', 0x85),
    ('†', 0x86),
    ('‡', 0x87),
    ('ˆ', 0x88),
    ('‰', 0x89),
    ('Š', 0x8A),
    ('‹', 0x8B),
    ('Œ', 0x8C),
    ('Ž', 0x8E),
    ('‘', 0x91),
    ('’', 0x92),
    ('“', 0x93),
    ('”', 0x94),
    ('•', 0x95),
    ('–', 0x96),
    ('—', 0x97),
    ('˜', 0x98),
    ('™', 0x99),
    ('š', 0x9A),
    ('›', 0x9B),
    ('œ', 0x9C),
    ('ž', 0x9E),
    ('Ÿ', 0x9F),
];

fn byte(c: char) -> u8 {
    match c {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        _ => SPECIAL.iter().find(|(special, _)| *special == c).map_or(b'?', |(_, byte)| *byte),
    }
}

/// A text in the font's encoding; `?` for what it has no letter for.
pub(super) fn encoded(text: &str) -> Vec<u8> {
    text.chars().map(byte).collect()
}

/// How wide a text is in this size.
pub(super) fn width(text: &str, face: Face, size: f32) -> f32 {
    let widths = match face {
        Face::Plain => &PLAIN,
        Face::Bold => &BOLD,
    };
    let of = |byte: u8| {
        byte.checked_sub(b' ').and_then(|at| widths.get(usize::from(at))).copied().unwrap_or(OTHERS)
    };
    let thousandths: u32 = encoded(text).into_iter().map(|byte| u32::from(of(byte))).sum();
    thousandths as f32 * size / 1000.0
}

/// A text in lines that are no wider than this, broken at spaces, and within a word where that is wider.
pub(super) fn wrapped(text: &str, face: Face, size: f32, most: f32) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut put = |word: &str| {
        let last = lines.last().cloned().unwrap_or_default();
        let joined = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
        if width(&joined, face, size) <= most {
            lines.pop();
            lines.push(joined);
            return;
        }
        if last.is_empty() {
            lines.pop();
        }
        let mut part = String::new();
        for c in word.chars() {
            part.push(c);
            if width(&part, face, size) > most && part.chars().count() > 1 {
                part.pop();
                lines.push(std::mem::replace(&mut part, c.to_string()));
            }
        }
        lines.push(part);
    };
    text.split_whitespace().for_each(&mut put);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_wide_as_the_metrics_say() {
        assert!((width("Hello", Face::Plain, 1000.0) - 2278.0).abs() < 0.1);
        assert!((width("Hello", Face::Bold, 10.0) - 24.45).abs() < 0.01);
        assert_eq!(width("0123456789", Face::Plain, 10.0), width("9999999999", Face::Bold, 10.0));
    }

    #[test]
    fn letters_that_the_font_has_are_encoded() {
        assert_eq!(encoded("Zürich, 5 €"), b"Z\xfcrich, 5 \x80");
        assert_eq!(encoded("東京\n"), b"???");
    }

    #[test]
    fn long_texts_are_broken_at_spaces_and_long_words_within() {
        let lines = wrapped("one two three fourfourfour", Face::Plain, 10.0, 40.0);
        assert!(lines.iter().all(|line| width(line, Face::Plain, 10.0) <= 40.0), "{lines:?}");
        assert_eq!(lines[0], "one two");
        assert_eq!(lines.concat().replace(' ', ""), "onetwothreefourfourfour");
        assert_eq!(wrapped("", Face::Plain, 10.0, 40.0), [""]);
    }
}
