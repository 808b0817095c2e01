//! Says that Berth is up: one line for programs, the next things to try for people.

use super::folder::Folder;
use super::secrets::replace_private;
use super::tenant::TENANT;
use crate::failure::Failure;
use crate::output;
use crate::role::Ready;
use serde::Serialize;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What programs are told. The names are a contract.
#[derive(Debug, Serialize)]
pub struct Announcement {
    /// Of the API.
    pub url: String,
    /// The first key.
    pub api_key: String,
    /// The tenant.
    pub tenant: &'static str,
    /// `embedded` or `full`.
    pub profile: &'static str,
    #[serde(skip)]
    listen: SocketAddr,
    #[serde(skip)]
    berth: PathBuf,
    #[serde(skip)]
    isolation: Option<String>,
    #[serde(skip)]
    sign_in: SignIn,
}

/// Links to the dashboard that sign in once: URLs.
#[derive(Debug, Default)]
pub struct SignIn {
    /// The tenant.
    pub customer: Option<String>,
    /// The operator.
    pub operator: Option<String>,
}

impl Announcement {
    /// What is so of an API that listens on `listen`.
    pub fn new(listen: SocketAddr, api_key: String, profile: &'static str) -> Self {
        let berth = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("berth"));
        let (url, tenant, isolation) = (url_of(listen), TENANT, None);
        let sign_in = SignIn::default();
        Self { url, api_key, tenant, profile, listen, berth, isolation, sign_in }
    }

    /// The same, with what commands are held to by the executor in this process.
    pub fn with_isolation(self, isolation: Option<String>) -> Self {
        Self { isolation, ..self }
    }

    /// The same, with links that sign in: paths of this API.
    pub fn with_sign_in(mut self, customer: Option<String>, operator: Option<String>) -> Self {
        let at_home = |path: Option<String>| path.map(|path| format!("{}{path}", self.url));
        self.sign_in = SignIn { customer: at_home(customer), operator: at_home(operator) };
        self
    }

    /// One line on standard output, and the ready file that roles have too.
    pub fn for_programs(&self) -> Result<(), Failure> {
        let json = serde_json::to_string(self).map_err(|e| Failure::failed(e.to_string()))?;
        self.in_file()?;
        match output::line(&json) {
            // Whoever started us may have stopped listening; customers have not.
            Err(failure) if failure.is_reader_gone() => Ok(()),
            written => written,
        }
    }

    /// The ready file, where one is wanted.
    pub fn in_file(&self) -> Result<(), Failure> {
        let address = Some(self.listen);
        Ready { role: "up", listen: address, health: address }.announce_in_file()
    }

    /// Writes files for shells: for customers address and key, for `operators` what they are told, for both where `berth` is.
    pub fn write_environment(
        &self,
        folder: &Folder,
        operators: &[(String, String)],
    ) -> Result<Environment, Failure> {
        let own = [("BERTH_SERVER", &self.url), ("BERTH_API_KEY", &self.api_key)];
        let own = own.map(|(name, value)| (name.to_owned(), value.clone()));
        let written = Environment {
            client: folder.file("client.env"),
            operator: folder.file("operator.env"),
        };
        let programs = quoted(&self.berth.parent().unwrap_or(Path::new("/")).to_string_lossy());
        for (path, exported) in [(&written.client, &own[..]), (&written.operator, operators)] {
            let export = |(name, value): &(_, String)| format!("export {name}={}\n", quoted(value));
            let exports: String = exported.iter().map(export).collect();
            let text = format!("{exports}PATH={programs}:$PATH\n");
            replace_private(path, &text).map_err(|error| {
                Failure::failed(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(written)
    }

    /// The end of the show: where it is, and what to try.
    pub fn for_people(&self, folder: &Folder, environment: &Environment) -> Result<(), Failure> {
        let at = |path: &Path| quoted(&path.to_string_lossy());
        let isolation = self.isolation.as_deref().map_or_else(String::new, |isolation| {
            format!(
                "\nIsolation of commands on this machine (docs/isolation.md):\n  {}\n",
                isolation.replace("; ", "\n  ")
            )
        });
        let text = format!(
            "\nBerth is up on {url}
{dashboard}
  key      {key}
  data     {data}
  log      {log}
{isolation}
Next, in another terminal:

  . {environment}
  berth submit --name mine -- bash -c 'for i in 1 2 3; do echo $i; sleep 1; done'
  berth list
  berth logs task_...
  curl -H \"Authorization: Bearer $BERTH_API_KEY\" $BERTH_SERVER/v1/tasks

For operator commands (berth doctor, berth admin ...), in another:

  . {operator}
{operators}
API reference: {url}/docs

Ctrl-C stops everything; the next `berth up` continues with the data.\n",
            url = self.url,
            dashboard = link(
                "Dashboard (this link signs you in, once, within an hour):",
                &self.sign_in.customer
            ),
            operators =
                link("Dashboard of operators (once, within an hour):", &self.sign_in.operator),
            key = self.api_key,
            data = folder.path().display(),
            log = folder.log("berth").display(),
            environment = at(&environment.client),
            operator = at(&environment.operator),
        );
        output::text(&text)
    }
}

/// The files for shells, gone when Berth is.
#[derive(Debug)]
pub struct Environment {
    client: PathBuf,
    operator: PathBuf,
}

impl Drop for Environment {
    fn drop(&mut self) {
        for path in [&self.client, &self.operator] {
            fs::remove_file(path).ok();
        }
    }
}

/// A link and what it is, as a paragraph; nothing where there is none.
fn link(what: &str, url: &Option<String>) -> String {
    url.as_ref().map_or_else(String::new, |url| format!("\n{what}\n  {url}\n"))
}

/// Where a client on this machine finds who listens there.
fn url_of(mut listen: SocketAddr) -> String {
    if listen.ip().is_unspecified() {
        let local: [std::net::IpAddr; 2] =
            [std::net::Ipv4Addr::LOCALHOST.into(), std::net::Ipv6Addr::LOCALHOST.into()];
        listen.set_ip(if listen.is_ipv4() { local[0] } else { local[1] });
    }
    format!("http://{listen}")
}

/// For a shell, word for word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_just_four_things() {
        let listen = SocketAddr::from(([0, 0, 0, 0], 8080));
        let said = Announcement::new(listen, "berth_live_x".to_owned(), "embedded");
        assert_eq!(
            serde_json::to_string(&said).unwrap(),
            r#"{"url":"http://127.0.0.1:8080","api_key":"berth_live_x","tenant":"demo","profile":"embedded"}"#
        );
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quoted("/it's $HOME"), r"'/it'\''s $HOME'");
    }
}
