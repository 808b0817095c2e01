//! What is answered to `HEAD`: the headers of the answer to `GET`, and no body.
//!
//! Called by `mount`. The rule: the length that is told is that of the body which `GET` would have had.

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Takes the body out of an answer.
pub(super) fn without_body(answer: HttpResponse) -> HttpResponse {
    answer.map_body(|_, body| BoxBody::new(Absent(body)))
}

/// A body of which only the size is told. The server writes none to `HEAD`, and so never misses a byte. It is kept, unasked, for
/// what it holds: the unread body of the request.
struct Absent(BoxBody);

impl MessageBody for Absent {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.0.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(None)
    }
}
