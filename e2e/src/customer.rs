//! A customer: a tenant with a key, who speaks plain HTTP.

use crate::Cluster;
use anyhow::{Context, bail};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A tenant's client. Goes to each api process in turn, like behind a load balancer.
pub struct Customer {
    http: reqwest::Client,
    urls: Vec<String>,
    key: String,
    next: AtomicUsize,
}

impl Customer {
    /// Makes a tenant and a key with the `berth` commands an operator would use.
    pub async fn sign_up(cluster: &Cluster, name: &str) -> anyhow::Result<Self> {
        Self::sign_up_with(cluster, name, &["read", "submit"]).await
    }

    /// The same with a key of these scopes.
    pub async fn sign_up_with(
        cluster: &Cluster,
        name: &str,
        scopes: &[&str],
    ) -> anyhow::Result<Self> {
        cluster.berth(&["admin", "tenant", "create", name, "--output", "json"]).await?;
        let mut command = vec!["admin", "key", "create", "--tenant", name, "--name", "test"];
        scopes.iter().for_each(|scope| command.extend(["--scope", *scope]));
        command.extend(["--output", "json"]);
        let made = cluster.berth(&command).await?;
        let made: Value = serde_json::from_str(&made)?;
        let key = made["key"].as_str().with_context(|| format!("no key in {made}"))?;
        Self::with_key(cluster, key)
    }

    /// A client with a given key.
    pub fn with_key(cluster: &Cluster, key: &str) -> anyhow::Result<Self> {
        Self::at(cluster.api_urls().to_vec(), key)
    }

    /// A client of the APIs at these URLs.
    pub fn at(urls: Vec<String>, key: &str) -> anyhow::Result<Self> {
        let _installed_before = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
        Ok(Self { http, urls, key: key.to_owned(), next: AtomicUsize::new(0) })
    }

    /// The same APIs with another key.
    #[must_use]
    pub fn other_key(&self, key: &str) -> Self {
        let (http, urls) = (self.http.clone(), self.urls.clone());
        Self { http, urls, key: key.to_owned(), next: AtomicUsize::new(0) }
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// One request to the next api process: status and body.
    pub async fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        idempotency_key: Option<&str>,
    ) -> anyhow::Result<(u16, Value)> {
        let (status, _, body) = self.answer(method, path, body, idempotency_key).await?;
        Ok((status, body))
    }

    /// The same with the headers of the answer.
    pub async fn answer(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        idempotency_key: Option<&str>,
    ) -> anyhow::Result<(u16, HeaderMap, Value)> {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % self.urls.len();
        let mut request = self
            .http
            .request(method.parse()?, format!("{}{path}", self.urls[at]))
            .bearer_auth(&self.key);
        if let Some(key) = idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await?;
        Ok((status, headers, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    /// Submits one task, again and again under one key until an answer comes; gives its id.
    pub async fn submit_until_answered(
        &self,
        task: &Value,
        idempotency_key: &str,
    ) -> anyhow::Result<String> {
        let until = runtime::clock::monotonic() + Duration::from_secs(60);
        loop {
            match self.call("POST", "/v1/tasks", Some(task), Some(idempotency_key)).await {
                Ok((200 | 201, answer)) => return id_of(&answer),
                Ok((429 | 500..=599, _)) | Err(_) => {}
                Ok((status, answer)) => bail!("submit answered {status}: {answer}"),
            }
            anyhow::ensure!(
                runtime::clock::monotonic() < until,
                "no answer to a submit for a minute"
            );
            runtime::clock::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Submits a batch, again and again under one key until an answer comes; gives the ids in order.
    pub async fn submit_batch(
        &self,
        tasks: &[Value],
        idempotency_key: &str,
    ) -> anyhow::Result<Vec<String>> {
        let body = serde_json::json!({ "tasks": tasks });
        let until = runtime::clock::monotonic() + Duration::from_secs(60);
        loop {
            match self.call("POST", "/v1/tasks/batch", Some(&body), Some(idempotency_key)).await {
                Ok((200 | 201, answer)) => {
                    anyhow::ensure!(
                        answer["rejected"] == 0,
                        "some of a batch were refused: {answer}"
                    );
                    let results = answer["results"].as_array().context("no results")?;
                    return results.iter().map(|result| id_of(&result["task"])).collect();
                }
                Ok((429 | 500..=599, _)) | Err(_) => {}
                Ok((status, answer)) => bail!("a batch answered {status}: {answer}"),
            }
            anyhow::ensure!(
                runtime::clock::monotonic() < until,
                "no answer to a batch for a minute"
            );
            runtime::clock::sleep(Duration::from_millis(50)).await;
        }
    }

    /// A task as the API shows it.
    pub async fn get(&self, id: &str) -> anyhow::Result<Value> {
        let (status, task) = self.call("GET", &format!("/v1/tasks/{id}"), None, None).await?;
        anyhow::ensure!(status == 200, "GET {id} answered {status}: {task}");
        Ok(task)
    }
}

fn id_of(task: &Value) -> anyhow::Result<String> {
    task["id"].as_str().map(str::to_owned).with_context(|| format!("no id in {task}"))
}
