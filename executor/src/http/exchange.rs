//! From the first request to the last answer: each hop resolved, checked and connected anew.

use super::answer;
use super::call::{Call, retry_after};
use super::end::{Failure, HttpEnd};
use super::network::Network;
use super::redirect::{self, MAX_REDIRECTS, Step};
use super::tls::Tls;
use super::transcript::Transcript;
use super::turns::Turn;
use super::waits::Waits;
use domain::id::TenantId;
use domain::target::TargetPolicy;
use domain::task::SuccessRule;
use domain::time::format_duration;
use runtime::clock;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use url::{Host, Url};

/// Longest time for one connection, and for its TLS.
const CONNECT: Duration = Duration::from_secs(10);
/// Most addresses of one name that are tried.
const MAX_ADDRESSES: usize = 4;

/// What all hops of an exchange share.
pub(super) struct Exchange<'a, N> {
    pub(super) tenant: TenantId,
    /// For all hops together. Waiting for a turn is no part of it.
    pub(super) timeout: Duration,
    pub(super) waits: &'a Waits,
    pub(super) policy: TargetPolicy,
    pub(super) network: &'a N,
    pub(super) tls: &'a Tls,
    pub(super) success: &'a SuccessRule,
    pub(super) body_limit: u64,
    pub(super) may_go_on: &'a (dyn Fn() -> bool + Sync),
    pub(super) transcript: Transcript,
}

impl<N: Network> Exchange<'_, N> {
    /// Asks, follows, and judges the last answer.
    pub(super) async fn run(mut self, mut call: Call) -> Result<HttpEnd, Failure> {
        let (mut redirects, mut left) = (0, self.timeout);
        loop {
            let turn = self.turn(&call.url).await;
            let began = clock::monotonic();
            let hop = clock::timeout(left, self.hop(&call, turn)).await;
            let (status, step) = match hop.map_err(|_| Failure::Timeout(self.timeout))?? {
                Hop::End(end) => return Ok(end),
                Hop::On { status, step } => (status, step),
            };
            left = left.saturating_sub(began.elapsed());
            if redirects == MAX_REDIRECTS {
                return Err(Failure::TooManyRedirects(status));
            }
            redirects += 1;
            call = call.follow(step);
        }
    }

    /// One request over a connection of its own, which is closed when this returns.
    async fn hop(&mut self, call: &Call, turn: Option<Turn>) -> Result<Hop, Failure> {
        let stream = self.connect(&call.url, turn).await?;
        if !(self.may_go_on)() {
            return Err(Failure::LeaseOver);
        }
        self.waits.asks();
        self.transcript.asked(call.method.as_str(), &call.url);
        let answer = if call.url.scheme() == "https" {
            let host = call.url.host_str().unwrap_or_default();
            let secret = within(CONNECT, self.tls.connect(host, stream)).await;
            let secret = secret.map_err(|error| no_connection(&call.url, error))?;
            // A handshake takes as long as the other side likes.
            if !(self.may_go_on)() {
                return Err(Failure::LeaseOver);
            }
            answer::ask(secret, call).await?
        } else {
            answer::ask(stream, call).await?
        };
        let (status, headers) = (answer.head.status, &answer.head.headers);
        self.transcript.answered(answer.head.version, status, headers);
        let succeeded = self.success.holds(status.as_u16());
        let step =
            (!succeeded).then(|| redirect::step(call.method, &call.url, status, headers)).flatten();
        let Some(step) = step else {
            let retry_after = if succeeded { None } else { retry_after(headers) };
            answer.read_body(self.body_limit, &mut self.transcript).await?;
            let status = status.as_u16();
            return Ok(Hop::End(HttpEnd::Answered { status, succeeded, retry_after }));
        };
        let status = status.as_u16();
        let step = step.map_err(|problem| Failure::Redirect { status, problem })?;
        Ok(Hop::On { status, step })
    }

    /// The right to look up the URL's host; none where it has an address instead of a name.
    async fn turn(&self, url: &Url) -> Option<Turn> {
        let named = matches!(url.host(), Some(Host::Domain(_)));
        if named { Some(self.waits.during(self.network.turn(self.tenant)).await) } else { None }
    }

    /// A connection to one checked address of the URL's host.
    async fn connect(&self, url: &Url, turn: Option<Turn>) -> Result<TcpStream, Failure> {
        let host = || url.host_str().unwrap_or_default().to_owned();
        let found = self.resolve(url, turn).await;
        let found = found.map_err(|error| Failure::Name { host: host(), error })?;
        let (mut allowed, mut refused) = (Vec::new(), None);
        for address in found {
            match self.policy.check(address) {
                Ok(checked) => allowed.push(checked),
                Err(why) => refused = Some(why),
            }
        }
        let mut last = io::Error::other("it has no address");
        for address in allowed.iter().take(MAX_ADDRESSES) {
            if !(self.may_go_on)() {
                return Err(Failure::LeaseOver);
            }
            match within(CONNECT, self.network.connect(*address)).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        match refused {
            Some(refused) if allowed.is_empty() => Err(Failure::Refused { host: host(), refused }),
            _ => Err(no_connection(url, last)),
        }
    }

    async fn resolve(&self, url: &Url, turn: Option<Turn>) -> io::Result<Vec<SocketAddr>> {
        let port = url.port_or_known_default().unwrap_or(80);
        match (url.host(), turn) {
            (Some(Host::Ipv4(ip)), _) => Ok(vec![(ip, port).into()]),
            (Some(Host::Ipv6(ip)), _) => Ok(vec![(ip, port).into()]),
            (Some(Host::Domain(name)), Some(turn)) => self.network.resolve(turn, name, port).await,
            (Some(Host::Domain(_)) | None, _) => Ok(Vec::new()),
        }
    }
}

/// What came of one request.
enum Hop {
    End(HttpEnd),
    On { status: u16, step: Step },
}

fn no_connection(url: &Url, error: io::Error) -> Failure {
    Failure::Connect { host: url.host_str().unwrap_or_default().to_owned(), error }
}

async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || {
        let text = format!("not within {}, the same for all tasks", format_duration(limit));
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    clock::timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
}
