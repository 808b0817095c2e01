//! Large answers go to the server piece by piece.
//!
//! Called by `dispatch` at the very end. The server copies what a body gives into its buffer, so a large answer that was given
//! at once would be in memory twice until its client has read all of it. The bytes are held, and counted, until the last piece is taken.

use crate::request::{FREE, Hold};
use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Half of what the server buffers before it writes.
pub(crate) const PIECE: usize = 16 * 1024;

/// The same answer, which gives its body in pieces where it is large.
pub(crate) fn in_pieces(answer: HttpResponse, hold: Option<Hold>) -> HttpResponse {
    if length(&answer).is_none_or(|length| length <= FREE) {
        return answer;
    }
    answer.map_body(|_, body| match body.try_into_bytes() {
        Ok(rest) => BoxBody::new(Pieces { rest, _hold: hold }),
        Err(stream) => stream,
    })
}

/// Bytes of its body, where that is no stream.
pub(crate) fn length(answer: &HttpResponse) -> Option<usize> {
    match answer.body().size() {
        BodySize::Sized(length) => usize::try_from(length).ok(),
        BodySize::None | BodySize::Stream => None,
    }
}

struct Pieces {
    rest: Bytes,
    _hold: Option<Hold>,
}

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let next = PIECE.min(self.rest.len());
        Poll::Ready((next > 0).then(|| Ok(self.rest.split_to(next))))
    }
}
