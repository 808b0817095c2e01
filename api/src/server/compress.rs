//! Compresses what is worth it, for clients that ask.
//!
//! Called by `dispatch` at the very end. Streams pass as they are: a compressor would hold back what should go out at once.

use actix_web::HttpResponse;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use tokio::sync::Semaphore;

/// Below this the packet is as full either way.
const LEAST: usize = 1024;
/// Above this it takes so long that other requests of the thread would wait.
const ON_THE_SPOT: usize = 64 * 1024;

/// Larger ones compressed at once. What finds no room is sent as it is: nobody waits for a processor to send a little less.
static PACKING: Semaphore = Semaphore::const_new(4);

/// The same answer, compressed where the client takes it and it is worth it.
pub(super) async fn compress(answer: HttpResponse, accepted: bool) -> HttpResponse {
    let (head, body) = answer.into_parts();
    let plain = match body.try_into_bytes() {
        Ok(plain) => plain,
        // A stream: its length is not known.
        Err(stream) => return head.set_body(stream),
    };
    if plain.len() < LEAST || !is_text(head.headers()) {
        return head.set_body(BoxBody::new(plain));
    }
    let is_packed = head.headers().contains_key(CONTENT_ENCODING);
    let packed = if !accepted || is_packed {
        None
    } else if plain.len() <= ON_THE_SPOT {
        pack(&plain).ok()
    } else if let Ok(turn) = PACKING.try_acquire() {
        let plain = plain.clone();
        let pack = move || {
            let _turn = turn;
            pack(&plain)
        };
        runtime::low_priority::spawn(pack).await.ok().and_then(Result::ok)
    } else {
        None
    };
    let mut answer = match packed {
        Some(packed) => {
            let mut answer = head.set_body(BoxBody::new(Bytes::from(packed)));
            answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            answer
        }
        None => head.set_body(BoxBody::new(plain)),
    };
    answer.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    answer
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.starts_with("application/json")
        || kind.starts_with("application/problem+json")
        || kind.starts_with("text/")
}

fn pack(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain)?;
    encoder.finish()
}
