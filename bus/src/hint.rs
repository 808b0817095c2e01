//! What travels on a hint queue: which tasks may be placed now, and what they need.
//!
//! The batcher builds a [`HintBatch`], a resource manager reads it. The rule: a hint is never the
//! truth. It names a task and the dispatch epoch under which it was queued; the row in Postgres
//! decides whether that still holds, so a hint may be lost, doubled or late without harm.

use domain::resources::Resources;
use domain::task::{Dispatch, DriverName};
use runtime::trace::TraceContext;
use serde::{Deserialize, Serialize};

/// The first byte of every message. A resource manager drops a message with another one: the sweep
/// returns its tasks, and they are dispatched again.
const FORMAT: u8 = 1;
/// The same of a message that also names drivers. One that names none has the first format, because an earlier release
/// reads no other: the batcher names drivers only where all resource managers of the pool say which ones they have.
const WITH_DRIVERS: u8 = 2;

type TraceBytes = [u8; TraceContext::BYTES];

/// One task that was marked `queued`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The dispatch under which it was queued.
    pub dispatch: Dispatch,
    /// What it needs, so that a batch is placed in memory before any row is read.
    pub resources: Resources,
    /// `run_at + delay_tolerance`, milliseconds since the Unix epoch.
    pub start_deadline_unix_ms: i64,
    /// The driver it needs; `None`: any executor may be tried. On its way it is in a list of the batch's.
    #[serde(skip)]
    pub driver: Option<DriverName>,
}

/// The hints of one message; about a hundred is a good size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintBatch {
    /// The trace of the dispatch that made it.
    pub trace: TraceContext,
    /// The tasks. An empty batch is legal and has no effect.
    pub hints: Vec<Hint>,
}

/// Why bytes are not a batch of hints.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// No bytes at all.
    #[error("the message is empty")]
    Empty,
    /// Written by a newer or older Berth.
    #[error("the message has format {found}, this process reads format {FORMAT}")]
    Format {
        /// Its first byte.
        found: u8,
    },
    /// The right format, but not a batch of hints.
    #[error("the message does not hold a batch of hints")]
    Content(#[source] postcard::Error),
    /// A whole batch, followed by other bytes.
    #[error("{count} bytes follow the batch")]
    Trailing {
        /// Number of bytes.
        count: usize,
    },
}

impl HintBatch {
    /// The message body.
    ///
    /// # Errors
    /// Only when memory for the bytes cannot be allocated.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        let mut bytes = Vec::with_capacity(64 + 64 * self.hints.len());
        let (names, places) = self.drivers();
        if names.is_empty() {
            bytes.push(FORMAT);
            return postcard::to_extend(&(self.trace.to_bytes(), &self.hints), bytes);
        }
        bytes.push(WITH_DRIVERS);
        postcard::to_extend(&(self.trace.to_bytes(), &self.hints, names, places), bytes)
    }

    /// Each driver once, and for each hint its place among them, counted from 1; 0: none. No places: all have the first.
    fn drivers(&self) -> (Vec<&str>, Vec<u8>) {
        let (mut names, mut places): (Vec<&str>, Vec<u8>) = Default::default();
        for hint in &self.hints {
            let Some(name) = hint.driver.as_ref().map(DriverName::as_str) else {
                places.push(0);
                continue;
            };
            let at = names.iter().position(|known| *known == name).unwrap_or(names.len());
            // There are few drivers. One too many is not named: its tasks may be tried anywhere.
            let place = u8::try_from(at + 1).unwrap_or(0);
            if place > 0 && at == names.len() {
                names.push(name);
            }
            places.push(place);
        }
        if places.iter().all(|place| *place == 1) {
            places.clear();
        }
        (names, places)
    }

    /// Reads a message body.
    ///
    /// # Errors
    /// When `bytes` are not exactly one batch in this process's format.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes.split_first() {
            None => Err(DecodeError::Empty),
            Some((&FORMAT, content)) => {
                let (trace, hints) = whole::<(TraceBytes, Vec<Hint>)>(content)?;
                Ok(Self { trace: trace_of(&trace), hints })
            }
            Some((&WITH_DRIVERS, content)) => {
                let (trace, mut hints, names, places) =
                    whole::<(TraceBytes, Vec<Hint>, Vec<&str>, Vec<u8>)>(content)?;
                let places = places.into_iter().chain(std::iter::repeat(1));
                for (hint, place) in hints.iter_mut().zip(places) {
                    let name = usize::from(place).checked_sub(1).and_then(|at| names.get(at));
                    hint.driver = name.and_then(|name| name.parse().ok());
                }
                Ok(Self { trace: trace_of(&trace), hints })
            }
            Some((&found, _)) => Err(DecodeError::Format { found }),
        }
    }
}

/// All of `content`, and nothing after it.
fn whole<'a, T: Deserialize<'a>>(content: &'a [u8]) -> Result<T, DecodeError> {
    let (value, rest) = postcard::take_from_bytes(content).map_err(DecodeError::Content)?;
    match rest.len() {
        0 => Ok(value),
        count => Err(DecodeError::Trailing { count }),
    }
}

/// It is for diagnosis only: an invalid one must not lose the hints.
fn trace_of(bytes: &TraceBytes) -> TraceContext {
    TraceContext::from_bytes(bytes).unwrap_or_else(|_| TraceContext::generate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{TaskId, TenantId};
    use domain::resources::Tier;

    fn batch(size: usize, resources: Resources, dispatch_epoch: i32) -> HintBatch {
        let hint = |_| Hint {
            dispatch: Dispatch {
                tenant: TenantId::fresh(),
                task: TaskId::fresh(),
                epoch: dispatch_epoch.into(),
            },
            resources,
            start_deadline_unix_ms: 1_790_000_000_123,
            driver: "command".parse().ok(),
        };
        HintBatch { trace: TraceContext::generate(), hints: (0..size).map(hint).collect() }
    }

    #[test]
    fn a_batch_reads_back_as_written() {
        for size in [0, 1, 100] {
            let mut batch = batch(size, Tier::Premium.resources(), 3);
            for drivers in [&["command", "noop", "No Name", "noop"][..], &["noop"], &[]] {
                for (at, hint) in batch.hints.iter_mut().enumerate() {
                    hint.driver = drivers.get(at % 5).and_then(|name| name.parse().ok());
                }
                let bytes = batch.encode().unwrap();
                assert_eq!(HintBatch::decode(&bytes).unwrap(), batch);
                // A release that knows no drivers reads what names none.
                let names = batch.hints.iter().any(|hint| hint.driver.is_some());
                assert_eq!(bytes[0], if names { WITH_DRIVERS } else { FORMAT });
            }
        }
    }

    /// The release before had these fields in the hint itself, and the epoch as `i32`.
    #[test]
    fn a_hint_is_written_as_the_release_before_wrote_it() {
        for epoch in [0, 1, 300, i32::MAX] {
            let mut batch = batch(2, Tier::Basic.resources(), epoch);
            batch.hints.iter_mut().for_each(|hint| hint.driver = None);
            let flat = |hint: &Hint| {
                let Hint { dispatch, resources, start_deadline_unix_ms, driver: _ } = *hint;
                (dispatch.tenant, dispatch.task, epoch, resources, start_deadline_unix_ms)
            };
            let flat: Vec<_> = batch.hints.iter().map(flat).collect();
            let before = postcard::to_extend(&(batch.trace.to_bytes(), flat), vec![FORMAT]);
            assert_eq!(batch.encode(), before, "{epoch}");
        }
    }

    #[test]
    fn a_place_that_names_no_driver_leaves_it_open() {
        let batch = batch(2, Tier::Basic.resources(), 1);
        let strange = (batch.trace.to_bytes(), &batch.hints, vec!["No Name"], vec![1u8, 7]);
        let bytes = postcard::to_extend(&strange, vec![WITH_DRIVERS]).unwrap();
        let decoded = HintBatch::decode(&bytes).unwrap();
        assert!(decoded.hints.len() == 2 && decoded.hints.iter().all(|hint| hint.driver.is_none()));
    }

    #[test]
    fn a_hundred_hints_fit_in_eight_kib_even_at_the_largest_figures() {
        let widest = Resources::from_dimensions([u32::MAX; 5]);
        assert!(batch(100, widest, i32::MIN).encode().unwrap().len() <= 8 * 1024);
        assert!(batch(100, Tier::Regular.resources(), 40).encode().unwrap().len() <= 5 * 1024);
    }

    #[test]
    fn what_is_not_exactly_one_batch_is_refused() {
        let good = batch(2, Tier::Basic.resources(), 1).encode().unwrap();
        assert!(matches!(HintBatch::decode(&[]), Err(DecodeError::Empty)));
        assert!(matches!(HintBatch::decode(&[9, 9]), Err(DecodeError::Format { found: 9 })));
        assert!(matches!(HintBatch::decode(b"\x01{\"json\""), Err(DecodeError::Content(_))));
        let longer = [good.as_slice(), b"x"].concat();
        assert!(matches!(HintBatch::decode(&longer), Err(DecodeError::Trailing { count: 1 })));
        for cut in 1..good.len() {
            assert!(HintBatch::decode(&good[..cut]).is_err(), "cut at {cut}");
        }
    }
}
