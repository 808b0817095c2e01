//! Where bytes may be cut so that text stays text.
//!
//! Pure. Used where output is cut into pieces: a piece that ends inside a character would be no text, and would be
//! shown as base64.

/// Longest UTF-8 character, bytes.
pub(super) const LONGEST: usize = 4;

/// How many bytes at the end of `data` may be the beginning of a character that goes on: 0 to 3. 0 also where the end is
/// no UTF-8 at all.
pub(super) fn unfinished(data: &[u8]) -> usize {
    let end = data.split_at(data.len().saturating_sub(LONGEST - 1)).1;
    (0..end.len())
        .map(|at| end.split_at(at).1)
        .find(|rest| is_beginning(rest))
        .map_or(0, <[u8]>::len)
}

/// How many bytes at the start of `data` may be the end of a character whose beginning is missing, where all that
/// follows them is text: 0 to 3.
pub(super) fn orphaned(data: &[u8]) -> usize {
    let count = data.iter().take(LONGEST - 1).take_while(|byte| is_continuation(**byte)).count();
    if count == 0 {
        return 0;
    }
    let rest = data.split_at(count).1;
    let whole = rest.len() - unfinished(rest);
    if std::str::from_utf8(rest.split_at(whole).0).is_ok() { count } else { 0 }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn is_beginning(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => false,
        // Without a length the error is that more is missing.
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_character_is_unfinished() {
        for whole in ["", "a", "ä", "€", "🦀", "a🦀"] {
            let bytes = whole.as_bytes();
            assert_eq!(unfinished(bytes), 0, "{whole}");
            for (at, character) in whole.char_indices() {
                for cut in 1..character.len_utf8() {
                    assert_eq!(unfinished(&bytes[..at + cut]), cut, "{whole}");
                    let rest = &bytes[at + cut..];
                    assert_eq!(orphaned(rest), character.len_utf8() - cut, "{whole}");
                }
            }
        }
        let binary: [&[u8]; 6] =
            [b"\xff", b"\xc0", b"\x80\x80\x80", b"\xed\xa0", b"\xf5\x80", b"\xf0\x80"];
        for bytes in binary {
            assert_eq!(unfinished(bytes), 0, "{bytes:?}");
        }
        assert_eq!(orphaned(b"\x80\x80\xff\x00"), 0, "binary is left as it is");
    }
}
