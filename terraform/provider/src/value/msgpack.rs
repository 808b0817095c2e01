//! MessagePack as Terraform uses it: unknown values are extensions, large numbers are texts.
//!
//! An unknown value comes as extension 0, or as extension 12 with what is known about it, which is dropped.

use super::Value;
use serde_json::Number;
use std::collections::BTreeMap;

/// Values within values; Terraform itself stops far below.
const DEEPEST: usize = 200;

/// Reads one value.
///
/// # Errors
/// When the bytes are no value, or more than one.
pub fn read(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err("bytes after the value".to_owned()) }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| "the value is cut off".to_owned())?;
        self.rest = rest;
        Ok(taken)
    }

    /// A whole number of `count` bytes, big end first.
    fn number(&mut self, count: usize) -> Result<u64, String> {
        Ok(self.take(count)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn length(&mut self, count: usize) -> Result<usize, String> {
        usize::try_from(self.number(count)?).map_err(|error| error.to_string())
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("the value is nested too deeply".to_owned());
        }
        let [kind] = *self.take(1)? else { return Err("the value is cut off".to_owned()) };
        match kind {
            0x00..=0x7f => Ok(Value::Number(kind.into())),
            0x80..=0x8f => self.map(usize::from(kind & 0x0f), depth),
            0x90..=0x9f => self.list(usize::from(kind & 0x0f), depth),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f)),
            0xc0 => Ok(Value::Null),
            0xc2 | 0xc3 => Ok(Value::Bool(kind == 0xc3)),
            0xc4 | 0xd9 => self.length(1).and_then(|length| self.text(length)),
            0xc5 | 0xda => self.length(2).and_then(|length| self.text(length)),
            0xc6 | 0xdb => self.length(4).and_then(|length| self.text(length)),
            0xc7 => self.length(1).and_then(|length| self.unknown(length)),
            0xc8 => self.length(2).and_then(|length| self.unknown(length)),
            0xc9 => self.length(4).and_then(|length| self.unknown(length)),
            0xca | 0xcb => self.float(kind == 0xcb),
            0xcc..=0xcf => Ok(Value::Number(self.number(1 << (kind - 0xcc))?.into())),
            0xd0..=0xd3 => self.signed(1 << (kind - 0xd0)),
            0xd4..=0xd8 => self.unknown(1 << (kind - 0xd4)),
            0xdc => self.length(2).and_then(|length| self.list(length, depth)),
            0xdd => self.length(4).and_then(|length| self.list(length, depth)),
            0xde => self.length(2).and_then(|length| self.map(length, depth)),
            0xdf => self.length(4).and_then(|length| self.map(length, depth)),
            0xe0..=0xff => Ok(Value::Number(i64::from(kind.cast_signed()).into())),
            0xc1 => Err("an unused kind of value".to_owned()),
        }
    }

    fn text(&mut self, length: usize) -> Result<Value, String> {
        let text = std::str::from_utf8(self.take(length)?).map_err(|error| error.to_string())?;
        Ok(Value::Text(text.to_owned()))
    }

    fn unknown(&mut self, length: usize) -> Result<Value, String> {
        match self.take(length.saturating_add(1))? {
            [0 | 12, ..] => Ok(Value::Unknown),
            _ => Err("an extension that Terraform does not have".to_owned()),
        }
    }

    fn float(&mut self, double: bool) -> Result<Value, String> {
        let value = if double {
            f64::from_bits(self.number(8)?)
        } else {
            let bits = u32::try_from(self.number(4)?).map_err(|error| error.to_string())?;
            f64::from(f32::from_bits(bits))
        };
        number(value)
    }

    fn signed(&mut self, bytes: usize) -> Result<Value, String> {
        let shift = 64 - 8 * bytes;
        let value = (self.number(bytes)? << shift).cast_signed() >> shift;
        Ok(Value::Number(value.into()))
    }

    fn list(&mut self, length: usize, depth: usize) -> Result<Value, String> {
        (0..length).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, String> {
        let mut fields = BTreeMap::new();
        for _ in 0..length {
            let Value::Text(key) = self.value(depth + 1)? else {
                return Err("a key that is no text".to_owned());
            };
            fields.insert(key, self.value(depth + 1)?);
        }
        Ok(Value::Map(fields))
    }
}

/// A number; whole where it is.
pub fn number(value: f64) -> Result<Value, String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
        return Ok(Value::from(value as i64));
    }
    if value.is_finite() {
        return Ok(Value::Decimal(value.to_string()));
    }
    Err("no finite number".to_owned())
}

/// Writes a value.
pub fn write(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(value, &mut bytes);
    bytes
}

fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xc0),
        Value::Unknown => out.extend([0xd4, 0, 0]),
        Value::Bool(switch) => out.push(if *switch { 0xc3 } else { 0xc2 }),
        Value::Number(number) => put_number(number, out),
        Value::Text(text) | Value::Decimal(text) => {
            head(out, text.len(), (0xa0, 31), [0xd9, 0xda, 0xdb]);
            out.extend(text.as_bytes());
        }
        Value::List(items) => {
            // There is no kind with a length of one byte.
            head(out, items.len(), (0x90, 15), [0xdc, 0xdc, 0xdd]);
            items.iter().for_each(|item| put(item, out));
        }
        Value::Map(fields) => {
            head(out, fields.len(), (0x80, 15), [0xde, 0xde, 0xdf]);
            for (key, field) in fields {
                put(&Value::Text(key.clone()), out);
                put(field, out);
            }
        }
    }
}

fn put_number(number: &Number, out: &mut Vec<u8>) {
    if let Some(whole) = number.as_i64() {
        out.push(0xd3);
        out.extend(whole.to_be_bytes());
    } else {
        // Whole, so it is one of both.
        out.push(0xcf);
        out.extend(number.as_u64().unwrap_or_default().to_be_bytes());
    }
}

/// The kind and the length: in one byte up to `small.1`, else after the kind for lengths of 1, 2 or 4 bytes.
fn head(out: &mut Vec<u8>, length: usize, small: (u8, u8), kinds: [u8; 3]) {
    let [one, two, four] = kinds;
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length), _) if length <= small.1 => out.push(small.0 | length),
        (Ok(length), _) if one != two => out.extend([one, length]),
        (_, Ok(length)) => {
            out.push(two);
            out.extend(length.to_be_bytes());
        }
        _ => {
            out.push(four);
            out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_reads_back_as_written() {
        let long = "x".repeat(300);
        let value = Value::from([
            ("null", Value::Null),
            ("unknown", Value::Unknown),
            ("yes", true.into()),
            ("no", false.into()),
            ("small", 5.into()),
            ("negative", (-70_000).into()),
            ("large", Value::Number(u64::MAX.into())),
            ("text", Value::from("ä".repeat(20).as_str())),
            ("long", Value::from(long.as_str())),
            ("longer", Value::from(long.repeat(300).as_str())),
            ("list", Value::List(vec![Value::from(1); 20])),
            ("map", Value::Map((0..20).map(|n| (n.to_string(), Value::Null)).collect())),
        ]);
        assert_eq!(read(&write(&value)).unwrap(), value);
    }

    #[test]
    fn what_terraform_writes_is_read() {
        // An unknown value with what is known about it: not null.
        assert_eq!(read(&[0xc7, 3, 12, 0x81, 1, 0xc2]).unwrap(), Value::Unknown);
        assert_eq!(read(&[0xff]).unwrap(), Value::from(-1));
        assert_eq!(read(&[0xd1, 0xff, 0x38]).unwrap(), Value::from(-200));
        assert_eq!(read(&[0xcd, 1, 0]).unwrap(), Value::from(256));
        // A whole number that was written as a float.
        assert_eq!(read(&[0xcb, 0x40, 0, 0, 0, 0, 0, 0, 0]).unwrap(), Value::from(2));
        let half = Value::Decimal("0.5".to_owned());
        assert_eq!(read(&[0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]).unwrap(), half);
        // Decimals are written as texts; the schema says what is a number (`schema::fitted`).
        assert_eq!(write(&half), b"\xa30.5");
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for bad in [&[][..], &[0xa5, b'x'], &[0xc1], &[0xc0, 0xc0], &[0xd4, 7, 0], &[0x81, 1, 1]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        assert!(read(&[0x91; 100_000]).is_err());
    }
}
