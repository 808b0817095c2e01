//! Accepts Terraform's connection, and ends when Terraform says so or is gone.

use super::certificate::{self, Tls};
use super::handshake::{self, NotServed, Wanted};
use super::messages::{
    Applied, Apply, Close, Configure, DataRead, Diagnosed, Import, Imported, Metadata, Move, Moved,
    Open, Opened, Plan, Planned, ProviderSchema, ProviderValidated, Read, ReadData, ReadDone,
    Upgrade, Upgraded, Validate, ValidateProvider,
};
use super::routes;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// What a provider answers. Every failure is a diagnostic in the answer.
pub trait Provider: Send + Sync + 'static {
    /// The names of all types.
    fn metadata(&self) -> Metadata;
    /// All schemas.
    fn schema(&self) -> ProviderSchema;
    /// Checks the provider's settings.
    fn validate_provider(
        &self,
        sent: ValidateProvider,
    ) -> impl Future<Output = ProviderValidated> + Send;
    /// Takes the provider's settings.
    fn configure(&self, sent: Configure) -> impl Future<Output = Diagnosed> + Send;
    /// Checks what a resource is configured to be.
    fn validate_resource(&self, sent: Validate) -> impl Future<Output = Diagnosed> + Send;
    /// Checks what a data source is asked.
    fn validate_data(&self, sent: Validate) -> impl Future<Output = Diagnosed> + Send;
    /// Checks what an ephemeral resource is asked.
    fn validate_ephemeral(&self, sent: Validate) -> impl Future<Output = Diagnosed> + Send;
    /// Reads a stored state.
    fn upgrade(&self, sent: Upgrade) -> impl Future<Output = Upgraded> + Send;
    /// Reads what a resource is.
    fn read(&self, sent: Read) -> impl Future<Output = ReadDone> + Send;
    /// Plans what it will be.
    fn plan(&self, sent: Plan) -> impl Future<Output = Planned> + Send;
    /// Makes it so.
    fn apply(&self, sent: Apply) -> impl Future<Output = Applied> + Send;
    /// Finds what exists.
    fn import(&self, sent: Import) -> impl Future<Output = Imported> + Send;
    /// Takes over a state of another type.
    fn moved(&self, sent: Move) -> impl Future<Output = Moved> + Send;
    /// Reads a data source.
    fn read_data(&self, sent: ReadData) -> impl Future<Output = DataRead> + Send;
    /// Opens an ephemeral resource.
    fn open(&self, sent: Open) -> impl Future<Output = Opened> + Send;
    /// Keeps it open.
    fn renew(&self, sent: Close) -> impl Future<Output = Diagnosed> + Send;
    /// Closes it.
    fn close(&self, sent: Close) -> impl Future<Output = Diagnosed> + Send;
}

/// What all connections share.
pub struct Shared<P> {
    pub(super) provider: P,
    /// Terraform wants the plugin to end.
    pub(super) stop: Notify,
}

/// Serves until Terraform is done.
///
/// # Errors
/// A text for a person: not started by Terraform, or no socket can be made.
pub async fn serve<P: Provider>(provider: P) -> Result<(), String> {
    let wanted = Wanted::read(environment).map_err(|reason| match reason {
        NotServed::NotByTerraform => "This is a plugin of Terraform, which starts it. See docs/terraform.md.".to_owned(),
        NotServed::Protocol(versions) => format!(
            "Terraform offers plugin protocol {versions}; this provider needs 6 (Terraform 1.11 or later)."
        ),
    })?;
    // Ctrl-C reaches the whole group; Terraform decides when its plugins end. Held, or it would act as by default again.
    let _interrupts = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let tls = wanted.client_certificate.as_deref().map(certificate::tls).transpose()?;
    let socket = Socket::new()?;
    let listener = UnixListener::bind(&socket.0)
        .map_err(|error| format!("{}: {error}", socket.0.display()))?;
    announce(&socket.0, tls.as_ref())?;

    let shared = Arc::new(Shared { provider, stop: Notify::new() });
    let accepting = accept(listener, tls, Arc::clone(&shared));
    tokio::select! {
        () = shared.stop.notified() => {}
        () = accepting => {}
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the settings of a plugin are its environment")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn announce(socket: &Path, tls: Option<&Tls>) -> Result<(), String> {
    let line = handshake::line(socket, tls.map(|tls| tls.certificate.as_slice()));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Accepts connections until one that was served ends: then Terraform is gone.
async fn accept<P: Provider>(listener: UnixListener, tls: Option<Tls>, shared: Arc<Shared<P>>) {
    let acceptor = tls.map(|tls| TlsAcceptor::from(tls.config));
    let gone = Arc::new(Notify::new());
    loop {
        let stream = tokio::select! {
            () = gone.notified() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => continue,
            },
        };
        let (acceptor, shared, gone) = (acceptor.clone(), Arc::clone(&shared), Arc::clone(&gone));
        #[expect(clippy::disallowed_methods, reason = "the plugin is outside Berth's processes")]
        tokio::spawn(async move {
            if connection(stream, acceptor, shared).await {
                gone.notify_one();
            }
        });
    }
}

/// Serves a connection to its end. False for one that was not Terraform's.
async fn connection<P: Provider>(
    stream: UnixStream,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared<P>>,
) -> bool {
    match acceptor {
        None => http(stream, shared).await,
        Some(acceptor) => match acceptor.accept(stream).await {
            Ok(stream) => http(stream, shared).await,
            Err(error) => {
                eprintln!("A connection was refused: {error}");
                return false;
            }
        },
    }
    true
}

async fn http<P: Provider>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    shared: Arc<Shared<P>>,
) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(routes::answer(shared, request).await) }
    });
    let served = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(1000)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        eprintln!("The connection broke: {error}");
    }
}

/// The address of the socket, in a folder of its own, both of which end with it.
struct Socket(PathBuf);

impl Socket {
    fn new() -> Result<Self, String> {
        use std::os::unix::fs::DirBuilderExt;
        let base = environment("PLUGIN_UNIX_SOCKET_DIR")
            .filter(|folder| !folder.is_empty())
            .map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = base.join(format!("berth-{}-{:016x}", std::process::id(), random()));
        // Readable by this user only; a folder that exists is refused.
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder.join("plugin.sock")))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
        if let Some(folder) = self.0.parent() {
            let _gone = std::fs::remove_dir(folder);
        }
    }
}

/// A number that differs from start to start.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
