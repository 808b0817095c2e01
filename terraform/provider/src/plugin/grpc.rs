//! gRPC over HTTP/2, as far as a plugin needs it: one message in, one message out, and streams that stay silent.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Frame, Incoming};
use prost::Message;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Why a call has no answer: a code of gRPC and a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Status {
    code: u8,
    text: &'static str,
}

impl Status {
    /// The method is not known here.
    pub const UNIMPLEMENTED: Self = Self { code: 12, text: "this plugin does not have the method" };
    const INVALID: Self = Self { code: 3, text: "the request cannot be read" };
}

/// Reads the one message of a request.
///
/// # Errors
/// When it is not exactly one uncompressed message of this type.
pub async fn receive<M: Message + Default>(body: Incoming) -> Result<M, Status> {
    let bytes = body.collect().await.map_err(|_| Status::INVALID)?.to_bytes();
    decode(&bytes)
}

fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, Status> {
    let (prefix, message) = bytes.split_first_chunk::<PREFIX>().ok_or(Status::INVALID)?;
    let [compressed, length @ ..] = *prefix;
    if compressed != 0 || usize::try_from(u32::from_be_bytes(length)) != Ok(message.len()) {
        return Err(Status::INVALID);
    }
    M::decode(message).map_err(|_| Status::INVALID)
}

/// The response with this message, or with the status.
pub fn respond<M: Message>(outcome: Result<M, Status>) -> Response<ResponseBody> {
    match outcome {
        Ok(message) => {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
            let frames = [Frame::data(encode(&message)), Frame::trailers(trailers)];
            response(UnsyncBoxBody::new(Frames(frames.into_iter())))
        }
        Err(status) => {
            let mut response = response(UnsyncBoxBody::new(Empty::new()));
            response.headers_mut().insert("grpc-status", HeaderValue::from(u16::from(status.code)));
            response.headers_mut().insert("grpc-message", HeaderValue::from_static(status.text));
            response
        }
    }
}

/// A stream without messages that ends with the connection.
pub fn silence(request: Incoming) -> Response<ResponseBody> {
    response(UnsyncBoxBody::new(Silence { _request: request }))
}

/// Two frames, one after the other.
struct Frames(std::array::IntoIter<Frame<Bytes>, 2>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

/// Never a frame. Dropped with its connection. The request is kept: dropped, it would reset the stream.
struct Silence {
    _request: Incoming,
}

impl Body for Silence {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

fn encode(message: &impl Message) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PREFIX + message.encoded_len());
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.encoded_len()).unwrap_or(u32::MAX));
    // Into memory, which grows: it does not fail.
    let _full = message.encode(&mut bytes);
    bytes.freeze()
}

fn response(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

#[cfg(test)]
mod tests {
    use super::super::messages::DynamicValue;
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written_and_nothing_else_is() {
        let sent = DynamicValue { msgpack: b"x".to_vec(), json: Vec::new() };
        let bytes = encode(&sent);
        assert_eq!(decode::<DynamicValue>(&bytes).unwrap(), sent);
        assert_eq!(decode::<DynamicValue>(&bytes[..4]), Err(Status::INVALID));
        assert_eq!(decode::<DynamicValue>(&bytes[..6]), Err(Status::INVALID));
        let mut compressed = bytes.to_vec();
        compressed[0] = 1;
        assert_eq!(decode::<DynamicValue>(&compressed), Err(Status::INVALID));
    }
}
