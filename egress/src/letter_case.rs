//! Sends headers' names as the customer writes them.
//!
//! To HTTP the case of a name means nothing, to some servers it does. The `http` crate keeps names in lower case only;
//! hyper notes how the names of a request it reads were written, and writes one that carries such a note in the same way. The
//! note cannot be made in any other way, so that hyper is given a head with these names to read.

use hyper::body::Incoming;
use hyper::http::Extensions;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::io;
use tokio::io::{AsyncWriteExt, duplex};

/// Has `request` sent with its headers' names `written` like this. Other names are not touched.
pub(super) async fn keep<B>(request: &mut Request<B>, written: &[String]) {
    if written.is_empty() {
        return;
    }
    if let Some(note) = note_of(written).await {
        request.extensions_mut().extend(note);
    }
}

/// None only when hyper cannot read its own kind of head; then names are written as ours are.
async fn note_of(written: &[String]) -> Option<Extensions> {
    let lines: String = written.iter().map(|name| format!("{name}: x\r\n")).collect();
    let head = format!("GET / HTTP/1.1\r\n{lines}\r\n");
    let (mut ours, theirs) = duplex(head.len());
    ours.write_all(head.as_bytes()).await.ok()?;
    let noted = Mutex::new(None);
    let service = service_fn(|mut read: Request<Incoming>| {
        let note = std::mem::take(read.extensions_mut());
        *noted.lock() = Some(note);
        // No answer: the connection ends here.
        async { Err::<Response<String>, io::Error>(io::ErrorKind::Other.into()) }
    });
    http1::Builder::new()
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(theirs), service)
        .await
        .ok();
    noted.into_inner()
}
