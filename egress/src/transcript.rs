//! Who is told of an exchange while it goes on.

use hyper::header::HeaderMap;
use hyper::{StatusCode, Version};
use std::future::pending;
use url::Url;

/// Told of each request, each answer's head, and each piece of the last answer's body, in this order.
pub trait Transcript: Send {
    /// A request is about to be sent.
    fn asked(&mut self, method: &str, url: &Url);

    /// An answer's head has come.
    fn answered(&mut self, version: Version, status: StatusCode, headers: &HeaderMap);

    /// Something worth knowing, for people.
    fn remark(&mut self, text: &str);

    /// A piece of the last answer's body.
    fn body(&mut self, data: &[u8]);

    /// Polled while the body is waited for, again and again: for what was told and is sent on later. One that sends
    /// nothing later leaves it out.
    fn held(&mut self) -> impl Future<Output = ()> + Send {
        pending()
    }
}
