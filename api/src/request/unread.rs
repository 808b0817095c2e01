//! A body that is not read to its end, held until the answer to it is written.
//!
//! Made by `server::dispatch`, lent to [`super::Incoming`]. Somebody must hold it that long: actix then says
//! `Connection: close`, reads on for a while after the answer and drops what comes, so that a client that is still sending
//! reads the answer instead of a reset. A chunked body that nobody holds it would read to its end, however far that is.

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::web::{Bytes, Payload};
use std::cell::RefCell;
use std::error::Error;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The body of a request, while it is not read to its end; empty where there is none.
#[derive(Clone, Default)]
pub(crate) struct Unread(Rc<RefCell<Option<Payload>>>);

impl Unread {
    /// The body of `request`.
    pub(crate) fn of(request: &HttpRequest, payload: Payload) -> Self {
        let headers = request.headers();
        let is_none = |length: &[u8]| length.iter().all(|byte| *byte == b'0');
        let declared = headers.get(CONTENT_LENGTH).is_some_and(|it| !is_none(it.as_bytes()));
        let body = (declared || headers.contains_key(TRANSFER_ENCODING)).then_some(payload);
        Self(Rc::new(RefCell::new(body)))
    }

    /// The body, to be read.
    pub(super) fn take(&self) -> Option<Payload> {
        self.0.borrow_mut().take()
    }

    /// What is left of it.
    pub(super) fn put_back(&self, payload: Payload) {
        *self.0.borrow_mut() = Some(payload);
    }

    /// The same answer, which holds the body where it was not read to its end, or where somebody still reads it.
    pub(crate) fn held_by(self, answer: HttpResponse) -> HttpResponse {
        if self.0.borrow().is_none() && Rc::strong_count(&self.0) == 1 {
            return answer;
        }
        answer.map_body(|_, body| BoxBody::new(Holding { body, _unread: self }))
    }
}

/// The body of an answer that holds the one of its request.
struct Holding {
    body: BoxBody,
    _unread: Unread,
}

impl MessageBody for Holding {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}
