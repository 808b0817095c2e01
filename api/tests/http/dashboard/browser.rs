//! A browser that keeps cookies and sends forms, and what it reads of pages.

use crate::client::{Answer, request};
use crate::server::Server;
use std::collections::BTreeMap;
use std::net::SocketAddr;

pub const EVIL: &str = "<script>alert(1)</script>";
pub const OWN: [(&str, &str); 1] = [("Sec-Fetch-Site", "same-origin")];

/// A browser: it keeps cookies, and sends forms as a page of the dashboard would.
pub struct Browser {
    pub addr: SocketAddr,
    pub cookies: BTreeMap<String, String>,
}

impl Browser {
    pub fn new(server: &Server) -> Self {
        Self { addr: server.addr, cookies: BTreeMap::new() }
    }

    /// One that has signed in with a key.
    pub async fn with_key(server: &Server, key: &str) -> Self {
        let mut browser = Self::new(server);
        let answer = browser.sign_in(&[("key", key)]).await;
        assert_eq!(answer.status, 303, "{}", text(&answer));
        browser
    }

    fn cookie(&self) -> String {
        let all = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        all.collect::<Vec<_>>().join("; ")
    }

    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let cookie = self.cookie();
        let mut headers = vec![("Accept", "text/html,*/*;q=0.8"), ("Cookie", cookie.as_str())];
        if method == "POST" {
            headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        headers.extend_from_slice(more);
        let answer = request(self.addr, method, path, &headers, body.as_bytes()).await;
        let set = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        for (_, cookie) in set {
            let (pair, attributes) = cookie.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    /// A page that must be there, as text.
    pub async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", text(&answer));
        text(&answer)
    }

    /// Sends a form with the token of a page.
    pub async fn post(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let token = token(&text(&self.get(page).await));
        self.post_with(action, &[&[("csrf", token.as_str())][..], fields].concat(), &OWN).await
    }

    pub async fn post_with(
        &mut self,
        action: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", action, headers, &body).await
    }

    pub async fn sign_in(&mut self, fields: &[(&str, &str)]) -> Answer {
        self.post("/sign-in", "/sign-in", fields).await
    }
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// The token of a form of a page.
pub fn token(html: &str) -> String {
    let at = html.find(r#"name="csrf" value=""#).unwrap_or_else(|| panic!("no form: {html}"));
    html[at..].split('"').nth(3).unwrap().to_owned()
}

pub fn location(answer: &Answer) -> &str {
    answer.header("location").unwrap_or_default()
}
