//! Frames on the socket between agent and supervisor: a length in four bytes, then postcard.
//!
//! A length is believed only up to `MAX_FRAME`: the other end is our own binary, but a reader must not
//! allocate what a broken one announces.

use super::job::Report;
use nix::errno::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::os::unix::net::UnixStream;

/// Largest frame, bytes: well above the largest task that the API accepts.
const MAX_FRAME: usize = 16 * 1024 * 1024;

/// The other end sent what is no frame.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame of {0} bytes passes the limit")]
    TooLarge(usize),
    #[error("a frame could not be read or written")]
    Malformed(#[from] postcard::Error),
}

/// Why a supervisor could not do its work. Nobody may be left to read it.
#[derive(Debug, thiserror::Error)]
pub(super) enum SuperviseError {
    #[error("a call to the system failed")]
    System(#[from] Errno),
    #[error("the agent could not be reached")]
    Control(#[from] std::io::Error),
    #[error("the agent was not understood")]
    Frame(#[from] FrameError),
}

/// `message` as it travels.
pub(crate) fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let body = postcard::to_stdvec(message)?;
    let len = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_FRAME);
    let len = len.ok_or(FrameError::TooLarge(body.len()))?;
    let mut frame = Vec::with_capacity(4 + body.len());
    frame.extend_from_slice(&len.to_le_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// Sends a report to the agent, whose end of the socket may be slow.
pub(super) fn send_report(control: &mut UnixStream, report: &Report) -> Result<(), SuperviseError> {
    control.set_nonblocking(false)?;
    control.write_all(&encode(report)?)?;
    Ok(())
}

/// Puts frames together from whatever pieces arrive.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    received: Vec<u8>,
}

impl Decoder {
    /// Adds bytes as they were read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some((head, rest)) = self.received.split_first_chunk::<4>() else { return Ok(None) };
        let len = u32::from_le_bytes(*head) as usize;
        if len > MAX_FRAME {
            return Err(FrameError::TooLarge(len));
        }
        let Some(body) = rest.get(..len) else { return Ok(None) };
        let message = postcard::from_bytes(body)?;
        self.received.drain(..4 + len);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Order;

    #[test]
    fn frames_come_out_of_any_pieces() {
        let orders = [Order::LeaseUntil(7), Order::Stop { grace_ms: 5000 }, Order::Kill];
        let bytes: Vec<u8> = orders.iter().flat_map(|order| encode(order).unwrap()).collect();
        for piece in 1..bytes.len() {
            let mut decoder = Decoder::default();
            let mut seen = Vec::new();
            for part in bytes.chunks(piece) {
                decoder.push(part);
                while let Some(order) = decoder.next::<Order>().unwrap() {
                    seen.push(order);
                }
            }
            assert_eq!(seen, orders);
        }
    }

    #[test]
    fn an_absurd_length_is_refused() {
        let mut decoder = Decoder::default();
        decoder.push(&u32::MAX.to_le_bytes());
        assert!(matches!(decoder.next::<Order>(), Err(FrameError::TooLarge(_))));
    }
}
