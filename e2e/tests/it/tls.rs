//! The api and the executor stream with TLS of a private CA, whose certificates are renewed while they run.

use anyhow::Context;
use e2e::{Cluster, Customer, Role, Shape};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use testkit::authority::Authority;
use testkit::poll::until_some;

const SOON: Duration = Duration::from_secs(30);

/// Files of one CA and of a server certificate that it has signed.
struct Files(TempDir);

impl Files {
    fn new() -> anyhow::Result<Self> {
        let files = Self(TempDir::new()?);
        files.renew()?;
        Ok(files)
    }

    /// Another CA and another certificate, under the same names.
    fn renew(&self) -> anyhow::Result<()> {
        let authority = Authority::new("a private CA")?;
        let server = authority.issue("berth")?;
        let texts = [
            ("ca.pem", authority.certificate),
            ("cert.pem", server.certificate),
            ("key.pem", server.key),
        ];
        for (name, text) in texts {
            fs::write(self.path(name), text)?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

/// What `berth` says to a customer who trusts the CAs in `trusted`.
fn berth(url: &str, key: &str, trusted: &Path, arguments: &[&str]) -> anyhow::Result<Value> {
    let output = Command::new(testkit::program::find("cli", "berth")?)
        .args(["--output", "json"])
        .args(arguments)
        .env("BERTH_SERVER", url)
        .env("BERTH_API_KEY", key)
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .output()?;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).context(error)
}

/// Whether the port at `address` answers the begin of an HTTP/2 connection in plain text with nothing but a TLS alert.
fn speaks_no_plain_text(address: &str) -> anyhow::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SOON))?;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
    let mut answer = Vec::new();
    // It may be reset, because not all that was sent is read.
    let _ = stream.read_to_end(&mut answer);
    const ALERT: u8 = 21;
    Ok(answer.first().is_none_or(|kind| *kind == ALERT))
}

async fn runs(url: &str, key: &str, trusted: &Path) -> anyhow::Result<()> {
    let made = berth(url, key, trusted, &["submit", "--", "true"])?;
    let id = made["id"].as_str().with_context(|| format!("no id in {made}"))?;
    let ended = || async {
        let task = berth(url, key, trusted, &["get", id]).ok()?;
        (!task["finished_at"].is_null()).then_some(task)
    };
    let task = until_some("the end of the task", SOON, ended).await?;
    anyhow::ensure!(task["state"] == json!("succeeded"), "{task}");
    Ok(())
}

mod waits {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn certificates_are_checked_and_renewed_without_a_restart() -> anyhow::Result<()> {
        let files = Files::new()?;
        let mut shape = Shape::default()
            .with(Role::Api, 1)
            .with(Role::ResourceManager, 1)
            .with(Role::Scheduler, 1)
            .with(Role::Executor, 0);
        for (role, section) in [(Role::Api, "API"), (Role::ResourceManager, "RESOURCE_MANAGER")] {
            let name = |kind: &str| format!("BERTH_{section}__TLS_{kind}_FILE");
            shape = shape.set_for(role, &name("CERT"), files.text("cert.pem"));
            shape = shape.set_for(role, &name("KEY"), files.text("key.pem"));
        }
        shape = shape.set_for_operators("SSL_CERT_FILE", files.text("ca.pem"));
        let mut cluster = Cluster::start(shape).await?;
        let port = cluster.manager_urls().trim_start_matches("http://").to_owned();
        let _silent = [TcpStream::connect(&port)?, TcpStream::connect(&port)?];
        assert!(speaks_no_plain_text(&port)?, "it answers in plain text");
        let managers = cluster.manager_urls().replace("http://127.0.0.1", "https://localhost");
        cluster.set("BERTH_EXECUTOR__RESOURCE_MANAGERS", managers);
        cluster.set("BERTH_EXECUTOR__CA_FILE", files.text("ca.pem"));
        cluster.join(Role::Executor).await?;
        let key = Customer::sign_up(&cluster, "acme").await?.key().to_owned();
        let url = cluster.api_urls()[0].replace("http://127.0.0.1", "https://localhost");
        let first = files.path("first.pem");
        fs::copy(files.path("ca.pem"), &first)?;
        runs(&url, &key, &first).await?;
        let stranger = files.path("stranger.pem");
        fs::write(&stranger, Authority::new("another CA")?.certificate)?;
        let refused = berth(&url, &key, &stranger, &["list"]).unwrap_err().to_string();
        assert!(refused.contains("UnknownIssuer"), "{refused}");

        files.renew()?;
        let renewed = || async { berth(&url, &key, &files.path("ca.pem"), &["list"]).ok() };
        until_some("the renewed certificate", SOON, renewed).await?;
        assert!(berth(&url, &key, &first, &["list"]).is_err(), "the old one is gone");
        // It trusts the renewed CA alone, so it can connect once the resource manager shows its renewed certificate.
        let executor = cluster.of(Role::Executor)[0];
        cluster.kill9(executor)?;
        cluster.launch(executor)?;
        cluster.ready(executor).await?;
        runs(&url, &key, &files.path("ca.pem")).await
    }
}
