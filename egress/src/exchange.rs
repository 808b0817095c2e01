//! From the first request to the last answer: each hop resolved, checked and connected anew.

use super::answer;
use super::failure::Failure;
use super::network::Network;
use super::redirect::{self, MAX_REDIRECTS, Step};
use super::request::Request;
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

/// What one exchange may do, with all its hops.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Whose it is: lookups are shared fairly among tenants.
    pub tenant: TenantId,
    /// What may be connected to.
    pub policy: TargetPolicy,
    /// For all hops together. Waiting for a turn is no part of it.
    pub timeout: Duration,
    /// Which answers are a success. One that is leads nowhere else, even where it is a redirect.
    pub success: &'a SuccessRule,
    /// Most of the last answer's body that is read, bytes.
    pub body_limit: u64,
    /// Asked just before anything is sent.
    pub may_go_on: &'a (dyn Fn() -> bool + Sync),
    /// Where the waiting for turns is written down.
    pub waits: &'a Waits,
}

/// The last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// What the rule makes of it.
    pub succeeded: bool,
    /// The wait that it asks for; none of a success.
    pub retry_after: Option<Duration>,
}

/// Asks, follows, and judges the last answer.
pub(super) async fn run<N: Network, T: Transcript>(
    network: &N,
    tls: &Tls,
    rules: Rules<'_>,
    request: Request,
    transcript: &mut T,
) -> Result<Answered, Failure> {
    Exchange { network, tls, rules, transcript }.run(request).await
}

/// What all hops of an exchange share.
struct Exchange<'a, N, T> {
    network: &'a N,
    tls: &'a Tls,
    rules: Rules<'a>,
    transcript: &'a mut T,
}

impl<N: Network, T: Transcript> Exchange<'_, N, T> {
    async fn run(mut self, mut request: Request) -> Result<Answered, Failure> {
        let (mut redirects, mut left) = (0, self.rules.timeout);
        loop {
            let turn = self.turn(&request.url).await;
            let began = clock::monotonic();
            let hop = clock::timeout(left, self.hop(&request, turn)).await;
            let (status, step) = match hop.map_err(|_| Failure::Timeout(self.rules.timeout))?? {
                Hop::Last(answered) => return Ok(answered),
                Hop::On { status, step } => (status, step),
            };
            left = left.saturating_sub(began.elapsed());
            if redirects == MAX_REDIRECTS {
                return Err(Failure::TooManyRedirects(status));
            }
            redirects += 1;
            request = request.follow(step);
        }
    }

    /// One request over a connection of its own, which is closed when this returns.
    async fn hop(&mut self, request: &Request, turn: Option<Turn>) -> Result<Hop, Failure> {
        let stream = self.connect(&request.url, turn).await?;
        if !(self.rules.may_go_on)() {
            return Err(Failure::Withdrawn);
        }
        self.rules.waits.asks();
        self.transcript.asked(request.method.as_str(), &request.url);
        let answer = if request.url.scheme() == "https" {
            let host = request.url.host_str().unwrap_or_default();
            let secret = within(CONNECT, self.tls.connect(host, stream)).await;
            let secret = secret.map_err(|error| no_connection(&request.url, error))?;
            // A handshake takes as long as the other side likes.
            if !(self.rules.may_go_on)() {
                return Err(Failure::Withdrawn);
            }
            answer::ask(secret, request).await?
        } else {
            answer::ask(stream, request).await?
        };
        let (status, headers) = (answer.head.status, &answer.head.headers);
        self.transcript.answered(answer.head.version, status, headers);
        let succeeded = self.rules.success.holds(status.as_u16());
        let step = (!succeeded)
            .then(|| redirect::step(request.method, &request.url, status, headers))
            .flatten();
        let Some(step) = step else {
            let retry_after = if succeeded { None } else { answer::retry_after(headers) };
            answer.read_body(self.rules.body_limit, self.transcript).await?;
            let status = status.as_u16();
            return Ok(Hop::Last(Answered { status, succeeded, retry_after }));
        };
        let status = status.as_u16();
        let step = step.map_err(|problem| Failure::Redirect { status, problem })?;
        Ok(Hop::On { status, step })
    }

    /// The right to look up the URL's host; none where it has an address instead of a name.
    async fn turn(&self, url: &Url) -> Option<Turn> {
        let named = matches!(url.host(), Some(Host::Domain(_)));
        if named {
            Some(self.rules.waits.during(self.network.turn(self.rules.tenant)).await)
        } else {
            None
        }
    }

    /// A connection to one checked address of the URL's host.
    async fn connect(&self, url: &Url, turn: Option<Turn>) -> Result<TcpStream, Failure> {
        let host = || url.host_str().unwrap_or_default().to_owned();
        let found = self.resolve(url, turn).await;
        let found = found.map_err(|error| Failure::Name { host: host(), error })?;
        let (mut allowed, mut refused) = (Vec::new(), None);
        for address in found {
            match self.rules.policy.check(address) {
                Ok(checked) => allowed.push(checked),
                Err(why) => refused = Some(why),
            }
        }
        let mut last = io::Error::other("it has no address");
        for address in allowed.iter().take(MAX_ADDRESSES) {
            if !(self.rules.may_go_on)() {
                return Err(Failure::Withdrawn);
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
    Last(Answered),
    On { status: u16, step: Step },
}

fn no_connection(url: &Url, error: io::Error) -> Failure {
    Failure::Connect { host: url.host_str().unwrap_or_default().to_owned(), error }
}

async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || {
        let text = format!("not within {}, which is fixed", format_duration(limit));
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    clock::timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
}
