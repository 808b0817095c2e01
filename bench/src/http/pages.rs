//! Pages of the dashboard, as a browser asks for them.

use super::connection::Connection;
use anyhow::{Context, ensure};
use bytes::Bytes;
use hyper::Request;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, COOKIE, HeaderValue};
use hyper::http::request::Builder;

/// A connection that is signed in to the dashboard.
pub struct Pages {
    connection: Connection,
    cookie: HeaderValue,
}

impl Pages {
    /// Signs in with the key of the connection, by the form.
    pub async fn sign_in(mut connection: Connection, key: &str) -> anyhow::Result<Self> {
        let (_, cookie, html) = connection.exchange(as_browser(Request::get("/sign-in"))).await?;
        let html = String::from_utf8_lossy(&html).into_owned();
        let token = html.split(r#"name="csrf" value=""#).nth(1);
        let token = token.and_then(|rest| rest.split('"').next()).context("no form")?;
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("csrf", token), ("key", key)])
            .finish();
        let form = as_browser(Request::post("/sign-in"))
            .header("sec-fetch-site", "same-origin")
            .header(COOKIE, cookie.context("no cookie of the form")?)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let (status, cookie, answer) = connection.exchange_with(form, body.into()).await?;
        ensure!(status == 303, "/sign-in answered {status}: {}", String::from_utf8_lossy(&answer));
        Ok(Self { connection, cookie: cookie.context("no cookie of the session")? })
    }

    /// Loads a page or a part of one that must be there; returns its length as sent, bytes.
    pub async fn get(&mut self, path: &str) -> anyhow::Result<usize> {
        let page = as_browser(Request::get(path))
            .header(COOKIE, self.cookie.clone())
            .header(ACCEPT_ENCODING, "gzip, br");
        let (status, _, answer) = self.connection.exchange(page).await?;
        ensure!(status == 200, "{path} answered {status}");
        Ok(answer.len())
    }
}

fn as_browser(request: Builder) -> Builder {
    request.header(ACCEPT, "text/html")
}

impl Connection {
    async fn exchange(
        &mut self,
        request: Builder,
    ) -> anyhow::Result<(u16, Option<HeaderValue>, Bytes)> {
        self.exchange_with(request, Bytes::new()).await
    }
}
