//! Base 62 of a fixed width, for the secret and the checksum of an API key.
//!
//! Fixed width, so that every key of an installation has the same length and its parts have fixed
//! places. Letters and digits only, so that a double click selects the whole key.

/// Digits in order of value.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Writes `bytes`, a big-endian number, as `width` digits; what does not fit is cut off at the front.
#[must_use]
pub fn encode(bytes: &[u8], width: usize) -> String {
    let mut number = bytes.to_vec();
    let mut digits = vec![DIGITS[0]; width];
    for slot in digits.iter_mut().rev() {
        let mut rest: u32 = 0;
        for byte in &mut number {
            let value = (rest << 8) | u32::from(*byte);
            *byte = (value / 62) as u8;
            rest = value % 62;
        }
        *slot = DIGITS[rest as usize];
    }
    digits.into_iter().map(char::from).collect()
}

/// True when `text` holds nothing but digits of base 62.
#[must_use]
pub fn is_base62(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_leading_zeros() {
        assert_eq!(encode(&[0], 3), "000");
        assert_eq!(encode(&[61], 2), "0z");
        assert_eq!(encode(&[62], 2), "10");
        assert_eq!(encode(&3844u32.to_be_bytes(), 6), "000100");
    }

    #[test]
    fn the_widths_of_a_key_hold_their_largest_values() {
        // 62^43 > 2^256 and 62^6 > 2^32: the first digit of the largest value is not cut off.
        assert_ne!(encode(&[255; 32], 43), encode(&[255; 32], 44)[..43]);
        assert!(encode(&[255; 32], 44).starts_with('0'));
        assert!(encode(&u32::MAX.to_be_bytes(), 7).starts_with('0'));
    }
}
