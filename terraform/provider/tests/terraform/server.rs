//! A whole Berth in a folder of its own, and what tests ask it directly.

use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The server, its keys, and a folder for what tests write.
pub struct Server {
    child: Mutex<Child>,
    program: PathBuf,
    /// Ends with the tests.
    pub folder: PathBuf,
    /// `127.0.0.1:PORT`.
    pub address: String,
    /// Of the tenant `demo`.
    pub api_key: String,
    /// Of all scopes.
    pub operator_key: String,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    /// Starts one. An error says what is missing on this machine.
    pub fn start() -> Result<Self, String> {
        let terraform = Command::new("terraform").arg("version").stdout(Stdio::null()).status();
        if !terraform.is_ok_and(|status| status.success()) {
            return Err("terraform is not installed".to_owned());
        }
        let program = program()?;
        let base =
            std::env::var_os("BERTH_SERVICES_BASE").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = base.join(format!("berth-terraform-{}", std::process::id()));
        let data = folder.join("data");
        fs::create_dir_all(&data).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let child = Mutex::new(spawn(&program, &folder, &address)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (api_key, operator_key) = (String::new(), String::new());
        let mut server = Self { child, program, folder, address, api_key, operator_key, runtime };
        server.until(|| {
            let key = |file: &str, name| variable(&data.join(file), name);
            !key("operator.env", "BERTH_OPERATOR_KEY").is_empty()
                && !key("client.env", "BERTH_API_KEY").is_empty()
        });
        server.operator_key = variable(&data.join("operator.env"), "BERTH_OPERATOR_KEY");
        server.api_key = variable(&data.join("client.env"), "BERTH_API_KEY");
        server.until(|| server.answers());
        Ok(server)
    }

    fn answers(&self) -> bool {
        self.operator().get("v1/admin/plans").is_ok() && self.tenant().get("v1/limits").is_ok()
    }

    /// Waits for something of it.
    fn until(&self, done: impl Fn() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < Duration::from_secs(180), "berth up is not ready in time");
            assert!(self.child().try_wait().unwrap().is_none(), "berth up has ended");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap()
    }

    /// Ends it by SIGKILL.
    pub fn kill(&self) {
        let mut child = self.child();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Starts it again, with what it has stored, and waits until it answers.
    pub fn start_again(&self) {
        *self.child() = spawn(&self.program, &self.folder, &self.address).unwrap();
        self.until(|| self.answers());
    }

    /// Asks with the operator's key.
    pub fn operator(&self) -> Asker<'_> {
        Asker { server: self, key: &self.operator_key }
    }

    /// Asks with the tenant's key.
    pub fn tenant(&self) -> Asker<'_> {
        Asker { server: self, key: &self.api_key }
    }

    /// Asks with any key.
    pub fn with<'a>(&'a self, key: &'a str) -> Asker<'a> {
        Asker { server: self, key }
    }

    /// The settings of the provider, as variables.
    pub fn environment(&self) -> HashMap<String, String> {
        [
            ("BERTH_SERVER", format!("http://{}", self.address)),
            ("BERTH_API_KEY", self.api_key.clone()),
            ("BERTH_OPERATOR_KEY", self.operator_key.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// Starts `berth up`.
fn spawn(program: &Path, folder: &Path, address: &str) -> Result<Child, String> {
    Command::new(program)
        .args(["up", "--listen", address, "--data-dir"])
        .arg(folder.join("data"))
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.join("up.txt")).unwrap())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut child = self.child();
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let _ = child.wait();
        drop(child);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Asks the API, without Terraform.
pub struct Asker<'a> {
    server: &'a Server,
    key: &'a str,
}

impl Asker<'_> {
    /// Reads.
    pub fn get(&self, path: &str) -> Result<Json, u16> {
        self.send("GET", path, None)
    }

    /// Stores.
    pub fn put(&self, path: &str, body: &Json) -> Json {
        self.send("PUT", path, Some(body)).unwrap_or_else(|status| panic!("PUT {path}: {status}"))
    }

    /// Deletes.
    pub fn delete(&self, path: &str) {
        self.send("DELETE", path, None).unwrap_or_else(|status| panic!("DELETE {path}: {status}"));
    }

    /// Creates.
    pub fn post(&self, path: &str, body: &Json) -> Json {
        self.send("POST", path, Some(body)).unwrap_or_else(|status| panic!("POST {path}: {status}"))
    }

    /// Plain HTTP/1.1: what the provider does is not tested with the provider's client.
    fn send(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Json, u16> {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = format!(
            "{method} /{path} HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.key,
            body.len()
        );
        let answer: Vec<u8> = self.server.runtime.block_on(async {
            let mut answer = Vec::new();
            if let Ok(mut stream) = tokio::net::TcpStream::connect(&self.server.address).await {
                stream.write_all(request.as_bytes()).await.unwrap();
                stream.read_to_end(&mut answer).await.unwrap();
            }
            answer
        });
        let text = String::from_utf8_lossy(&answer);
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        // One chunk or several; JSON begins and ends with a brace.
        let json = match (body.find('{'), body.rfind('}')) {
            (Some(begin), Some(end)) => {
                serde_json::from_str(&unchunked(&body[begin..=end])).unwrap_or_default()
            }
            _ => Json::Null,
        };
        if (200..300).contains(&status) { Ok(json) } else { Err(status) }
    }
}

/// Without the lengths between chunks.
fn unchunked(body: &str) -> String {
    let mut lines = body.split("\r\n");
    let mut text = lines.next().unwrap_or_default().to_owned();
    while let (Some(_length), Some(chunk)) = (lines.next(), lines.next()) {
        text.push_str(chunk);
    }
    text
}

/// The program `berth`.
fn program() -> Result<PathBuf, String> {
    let built = std::env::var_os("BERTH_TEST_BIN_DIR").map(PathBuf::from);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug");
    let program = built.unwrap_or(usual).join("berth");
    if program.exists() {
        return Ok(program);
    }
    Err(format!("{} does not exist; build Berth first", program.display()))
}

fn variable(file: &Path, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let prefix = format!("export {name}=");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix));
    line.unwrap_or_default().trim_matches('\'').to_owned()
}
