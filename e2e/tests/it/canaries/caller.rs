//! Sends requests to one api process and keeps what came back, but for answers that show a secret once.

use anyhow::Context;
use runtime::clock;
use serde_json::Value;
use std::time::Duration;

/// Who asks.
pub struct Caller {
    http: reqwest::Client,
    url: String,
    /// All answers that may show no secret, with what was asked.
    pub answers: Vec<String>,
}

impl Caller {
    /// Of the api at this URL.
    pub fn at(url: &str, patience: Duration) -> anyhow::Result<Self> {
        let _installed_before = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(patience).build()?;
        Ok(Self { http, url: url.to_owned(), answers: Vec::new() })
    }

    /// Asks, and keeps the answer.
    pub async fn ask(
        &mut self,
        (verb, path): (&str, &str),
        credential: &str,
        body: Option<&str>,
    ) -> anyhow::Result<u16> {
        let (status, text) = self.quietly((verb, path), credential, body).await?;
        self.answers.push(format!("{verb} {path} {status} {text}"));
        Ok(status)
    }

    /// Asks, and keeps nothing: the answer shows a secret once, or what was stored.
    pub async fn quietly(
        &self,
        (verb, path): (&str, &str),
        credential: &str,
        body: Option<&str>,
    ) -> anyhow::Result<(u16, String)> {
        let verb = reqwest::Method::from_bytes(verb.as_bytes())?;
        let mut request = self.http.request(verb, format!("{}{path}", self.url));
        if !credential.is_empty() {
            request = request.header("authorization", format!("Bearer {credential}"));
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        let answer = request.send().await?;
        let status = answer.status();
        let headers = format!("{:?}", answer.headers());
        let text = answer.text().await?;
        // No header is ever for showing a secret.
        anyhow::ensure!(!headers.contains(super::CANARY), "{path}: {headers}");
        Ok((status.as_u16(), text))
    }

    /// The same, where it must succeed.
    pub async fn shown(
        &self,
        target: (&str, &str),
        credential: &str,
        body: &Value,
    ) -> anyhow::Result<Value> {
        let (status, text) = self.quietly(target, credential, Some(&body.to_string())).await?;
        anyhow::ensure!((200..300).contains(&status), "{target:?}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Submits a task and waits until it has ended, in whatever way.
    pub async fn run(&mut self, key: &str, task: &Value, patience: Duration) -> anyhow::Result<()> {
        let made = self.shown(("POST", "/v1/tasks"), key, task).await?;
        let path = format!("/v1/tasks/{}", text(&made, "id")?);
        let until = clock::monotonic() + patience;
        loop {
            let (_, now) = self.quietly(("GET", &path), key, None).await?;
            if !serde_json::from_str::<Value>(&now)?["finished_at"].is_null() {
                return Ok(());
            }
            anyhow::ensure!(clock::monotonic() < until, "it does not end: {now}");
            clock::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A field that is text.
pub fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    value[name].as_str().map(ToOwned::to_owned).with_context(|| format!("no {name} in {value}"))
}

/// The part of a key or token that is secret.
pub fn secret_of(text: &str) -> String {
    // A signature in base 64 has underscores of its own.
    let divider = if text.contains('.') { '.' } else { '_' };
    text.rsplit(divider).next().unwrap_or_default().to_owned()
}
