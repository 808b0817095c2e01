//! Who asked for what: a W3C trace context, carried from the submit to the executor.
//!
//! The api reads it from `traceparent` or makes one; rows and messages carry its 25 bytes; each hop
//! passes on a child. Anything malformed is refused here and replaced by the caller with a fresh one:
//! a bad header must never fail a request.

use domain::id::TaskId;
use std::fmt;
use std::str::FromStr;

/// A trace, the span within it that caused this, and flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    flags: u8,
}

/// Why something is not a trace context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a traceparent of the form 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, ids not all zero"
)]
pub struct ParseTraceError;

/// `sampled` and `random`, the flags this version knows; a child must not pass on others.
const KNOWN_FLAGS: u8 = 0b11;
const SAMPLED: u8 = 0b01;
/// Length of version 00.
const LENGTH: usize = 55;

impl TraceContext {
    /// Length of the binary form.
    pub const BYTES: usize = 25;

    /// A new trace, sampled.
    #[must_use]
    pub fn generate() -> Self {
        Self { trace_id: random(), span_id: random(), flags: KNOWN_FLAGS }
    }

    /// The same trace, one step on.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { trace_id: self.trace_id, span_id: random(), flags: self.flags & KNOWN_FLAGS }
    }

    /// The run of an attempt of a task that was submitted under this. Its span id is the same whoever asks: the called server hears it
    /// from the executor, and whichever resource manager then settles the attempt exports the span.
    #[must_use]
    pub fn of_run(&self, task: TaskId, attempt: u32) -> Self {
        let (high, low) = task.uuid().as_u64_pair();
        let id = mixed(mixed(mixed(high) ^ low) ^ u64::from(attempt)).max(1);
        let (span_id, flags) = (id.to_be_bytes(), self.flags & KNOWN_FLAGS);
        Self { trace_id: self.trace_id, span_id, flags }
    }

    /// The trace of a task that was submitted under none, as those of schedules are. Sampled.
    #[must_use]
    pub fn of_task(task: TaskId) -> Self {
        let trace_id = task.uuid().into_bytes();
        Self { trace_id, span_id: [0; 8], flags: KNOWN_FLAGS }.of_run(task, 0)
    }

    /// Whether the trace's origin records it.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The trace's id, 32 hex digits: what logs show and people search for.
    #[must_use]
    pub fn trace_id(&self) -> String {
        hex(&self.trace_id)
    }

    /// The span's id, 16 hex digits.
    #[must_use]
    pub fn span_id(&self) -> String {
        hex(&self.span_id)
    }

    /// Trace id and span id.
    pub(crate) const fn ids(&self) -> ([u8; 16], [u8; 8]) {
        (self.trace_id, self.span_id)
    }

    /// Trace id, span id, flags.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.trace_id);
        bytes[16..24].copy_from_slice(&self.span_id);
        bytes[24] = self.flags;
        bytes
    }

    /// Reads what `to_bytes` wrote.
    ///
    /// # Errors
    /// When it is not 25 bytes or an id is all zero.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseTraceError> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| ParseTraceError)?;
        let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
        trace_id.copy_from_slice(&bytes[..16]);
        span_id.copy_from_slice(&bytes[16..24]);
        Self { trace_id, span_id, flags: bytes[24] }.valid()
    }

    fn valid(self) -> Result<Self, ParseTraceError> {
        let zero = self.trace_id == [0; 16] || self.span_id == [0; 8];
        if zero { Err(ParseTraceError) } else { Ok(self) }
    }
}

impl FromStr for TraceContext {
    type Err = ParseTraceError;

    /// Reads a `traceparent` header. A later version is read as far as version 00 goes, as the
    /// standard asks.
    fn from_str(text: &str) -> Result<Self, ParseTraceError> {
        let bytes = text.trim_matches([' ', '\t']).as_bytes();
        let head: &[u8; LENGTH] = bytes.first_chunk().ok_or(ParseTraceError)?;
        let [version] = unhex(&head[..2])?;
        let rest_fits = match version {
            0xff => false,
            0 => bytes.len() == LENGTH,
            _ => bytes.get(LENGTH).is_none_or(|next| *next == b'-'),
        };
        if !rest_fits || [head[2], head[35], head[52]] != *b"---" {
            return Err(ParseTraceError);
        }
        let [flags] = unhex(&head[53..])?;
        Self { trace_id: unhex(&head[3..35])?, span_id: unhex(&head[36..52])?, flags }.valid()
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id(), self.span_id(), self.flags)
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceContext({self})")
    }
}

/// Spreads every bit over all 64 (the finalizer of splitmix64).
const fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Random bytes, not all zero.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    while bytes == [0; N] {
        rand::fill(&mut bytes);
    }
    bytes
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Lower-case hex digits only; `text` must be twice as long as the result.
fn unhex<const N: usize>(text: &[u8]) -> Result<[u8; N], ParseTraceError> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(ParseTraceError),
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_survives_text_and_bytes() {
        for context in [TraceContext::generate(), GOOD.parse().expect("a good one")] {
            assert_eq!(context.to_string().parse(), Ok(context));
            assert_eq!(TraceContext::from_bytes(&context.to_bytes()), Ok(context));
        }
        assert_eq!(GOOD.parse::<TraceContext>().map(|c| c.to_string()), Ok(GOOD.to_owned()));
    }

    #[test]
    fn a_child_is_another_span_of_the_same_trace() {
        let parent: TraceContext = GOOD.replace("-01", "-ff").parse().expect("flags are free");
        let child = parent.child();
        assert_eq!(child.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_ne!(child.span_id(), parent.span_id());
        assert!(child.to_string().ends_with("-03"), "{child}");
        assert!(child.is_sampled() && TraceContext::generate().is_sampled());
    }

    #[test]
    fn a_run_has_one_id_of_its_own_and_a_task_without_a_trace_one_trace() {
        let submit: TraceContext = GOOD.parse().expect("a good one");
        let (task, other) = (TaskId::fresh(), TaskId::fresh());
        let run = submit.of_run(task, 1);
        assert_eq!((run, run.trace_id()), (submit.of_run(task, 1), submit.trace_id()));
        assert_eq!(run.to_string().parse(), Ok(run));
        let all: std::collections::HashSet<_> = [task, other]
            .into_iter()
            .flat_map(|task| (1..500).map(move |attempt| submit.of_run(task, attempt).span_id()))
            .collect();
        assert_eq!(all.len(), 2 * 499);
        let unsampled: TraceContext = GOOD.replace("-01", "-00").parse().expect("a good one");
        assert!(!unsampled.of_run(task, 1).is_sampled());
        let own = TraceContext::of_task(task);
        assert_eq!(own.to_string().parse(), Ok(own));
        assert_eq!((own, own.is_sampled()), (TraceContext::of_task(task), true));
        assert_eq!(own.of_run(task, 1).trace_id(), own.trace_id());
        assert_ne!(own.of_run(task, 1), own);
        assert_ne!(own.trace_id(), TraceContext::of_task(other).trace_id());
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = GOOD.replacen("00", "cc", 1);
        assert!(later.parse::<TraceContext>().is_ok());
        assert!(format!("{later}-more").parse::<TraceContext>().is_ok());
        assert!(format!("{later}more").parse::<TraceContext>().is_err());
    }

    #[test]
    fn malformed_ones_are_refused() {
        let zero_trace = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let zero_span = "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01";
        let upper = GOOD.to_uppercase();
        let long = format!("{GOOD}-more");
        let version = GOOD.replacen("00", "ff", 1);
        let letters = GOOD.replace("4bf9", "4bgz");
        let dashes = GOOD.replace('-', "_");
        let wide = GOOD.replace("4bf92f", "é92f").replace("00-é", "00-éé");
        for text in [
            "",
            "00",
            &GOOD[..54],
            zero_trace,
            zero_span,
            &upper,
            &long,
            &version,
            &letters,
            &dashes,
            &wide,
        ] {
            assert_eq!(text.parse::<TraceContext>(), Err(ParseTraceError), "{text}");
        }
        assert!(TraceContext::from_bytes(&[0; 25]).is_err());
        assert!(TraceContext::from_bytes(&[1; 24]).is_err());
    }
}
