//! Inflates a gzip body piece by piece, and stops at its limit while it does.
//!
//! Used by `body`. A few kilobytes can inflate to a thousand times as much: so what comes out is counted as it is written, and
//! the first byte over the limit ends it.

use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// A body being inflated.
pub(super) struct Inflate {
    decoder: Option<MultiGzDecoder<Bounded>>,
}

/// Why it cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InflateError {
    /// It inflates to more than its limit.
    TooLarge,
    /// Its compressed bytes hold next to nothing.
    Padded,
    /// It is no gzip, or not all of it.
    NotGzip,
}

/// Where plain bytes go.
struct Bounded {
    plain: Vec<u8>,
    left: usize,
    over: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            self.over = true;
            return Err(io::Error::other("over the limit"));
        };
        self.left = left;
        self.plain.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Inflate {
    /// For at most `limit` plain bytes.
    pub(super) fn new(limit: usize) -> Self {
        let bounded = Bounded { plain: Vec::new(), left: limit, over: false };
        Self { decoder: Some(MultiGzDecoder::new(bounded)) }
    }

    /// What these bytes inflate to; may be nothing yet.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, InflateError> {
        let decoder = self.decoder.as_mut().ok_or(InflateError::NotGzip)?;
        let written = decoder.write_all(bytes).and_then(|()| decoder.flush());
        let sink = decoder.get_mut();
        match written {
            Ok(()) => Ok(std::mem::take(&mut sink.plain)),
            Err(_) if sink.over => Err(InflateError::TooLarge),
            Err(_) => Err(InflateError::NotGzip),
        }
    }

    /// The rest, after the last byte.
    pub(super) fn finish(&mut self) -> Result<Vec<u8>, InflateError> {
        let mut decoder = self.decoder.take().ok_or(InflateError::NotGzip)?;
        match decoder.try_finish() {
            Ok(()) => Ok(std::mem::take(&mut decoder.get_mut().plain)),
            Err(_) if decoder.get_ref().over => Err(InflateError::TooLarge),
            Err(_) => Err(InflateError::NotGzip),
        }
    }

    /// After [`Self::finish`].
    pub(super) const fn is_finished(&self) -> bool {
        self.decoder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn inflated(packed: &[u8], limit: usize, step: usize) -> Result<Vec<u8>, InflateError> {
        let mut inflate = Inflate::new(limit);
        let mut plain = Vec::new();
        for piece in packed.chunks(step) {
            plain.extend(inflate.push(piece)?);
        }
        plain.extend(inflate.finish()?);
        Ok(plain)
    }

    #[test]
    fn what_was_packed_comes_out_however_it_is_cut() {
        let plain: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
        for step in [1000, 4096, usize::MAX] {
            assert_eq!(inflated(&packed(&plain), plain.len(), step).unwrap(), plain);
        }
        let small = packed(b"{}");
        assert_eq!(inflated(&small, 2, 1).unwrap(), b"{}");
        let members = [packed(b"ab"), packed(b"cd")].concat();
        assert_eq!(inflated(&members, 4, 3).unwrap(), b"abcd");
    }

    #[test]
    fn a_bomb_ends_at_the_limit_and_holds_no_more() {
        let bomb = packed(&vec![0; 50_000_000]);
        assert!(bomb.len() < 60_000);
        let mut inflate = Inflate::new(1_000_000);
        let error = bomb.chunks(4096).find_map(|piece| inflate.push(piece).err());
        assert_eq!(error, Some(InflateError::TooLarge));
        assert!(inflate.decoder.unwrap().get_ref().plain.len() <= 1_000_000);
        assert_eq!(inflated(&packed(b"abc"), 2, 4096), Err(InflateError::TooLarge));
    }

    #[test]
    fn what_is_no_gzip_or_not_all_of_it_is_told() {
        let good = packed(b"some text that is long enough");
        let mut bad_sum = good.clone();
        let at = bad_sum.len() - 6;
        bad_sum[at] ^= 1;
        for bad in [b"{}".to_vec(), good[..good.len() - 1].to_vec(), good[..12].to_vec(), bad_sum] {
            assert_eq!(inflated(&bad, 1000, 4096), Err(InflateError::NotGzip));
        }
    }
}
