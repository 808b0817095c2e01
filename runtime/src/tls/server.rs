//! The certificate of a server of this process, read again when its files change.

use super::{Identity, PemFile, TlsError};
use crate::health::Health;
use crate::shutdown::Shutdown;
use crate::tick::{TickOutcome, TickPolicy, Ticker};
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use std::time::Duration;

/// A renewed certificate is used for new connections after this time at most.
const READ_INTERVAL: Duration = Duration::from_secs(10);

/// A server certificate with its key, from two files. Cheap to clone; clones share the certificate.
#[derive(Debug, Clone)]
pub struct ServerTls {
    certificate: OwnedFile,
    key: OwnedFile,
    current: Arc<Current>,
}

#[derive(Debug, Clone)]
struct OwnedFile {
    setting: &'static str,
    path: String,
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ServerTls {
    /// Reads both files; none where both settings are empty: the server then speaks plain text.
    ///
    /// # Errors
    /// When one of them cannot be read, holds something else or is missing, or the key is of another certificate.
    pub fn of(certificate: PemFile<'_>, key: PemFile<'_>) -> Result<Option<Self>, TlsError> {
        let Some(read) = read(certificate, key)? else { return Ok(None) };
        let current = Arc::new(Current(RwLock::new(Arc::new(read))));
        Ok(Some(Self { certificate: certificate.into(), key: key.into(), current }))
    }

    /// Settings of a server that offers the protocols `alpn` and shows the certificate of the moment.
    ///
    /// # Errors
    /// When the cryptography of this build cannot do TLS 1.2 and 1.3.
    pub fn config(&self, alpn: &[&str]) -> Result<ServerConfig, TlsError> {
        let failed = |cause: rustls::Error| self.unusable(&cause);
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_cert_resolver(self.current.clone());
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(config)
    }

    /// Reads the files again; true if they hold another certificate than before, which new connections then see.
    ///
    /// # Errors
    /// As [`Self::of`]; the certificate stays as it was. So a certificate that was replaced before its key is no harm.
    pub fn renew(&self) -> Result<bool, TlsError> {
        let Some(read) = read(self.certificate.as_ref(), self.key.as_ref())? else {
            return Ok(false);
        };
        if self.current.0.read().cert == read.cert {
            return Ok(false);
        }
        *self.current.0.write() = Arc::new(read);
        Ok(true)
    }

    /// Renews every 10 s until the shutdown. While the files are unusable the old certificate stays, with a warning.
    pub async fn keep_renewed(self, name: &'static str, health: Health, shutdown: Shutdown) {
        let ticker = Ticker::new(name, TickPolicy::every(READ_INTERVAL)).liveness(&health);
        let renew = || async {
            let renewed = self.renew()?;
            if renewed {
                let path = &self.certificate.path;
                tracing::info!(%path, "New connections get the renewed certificate of {path}");
            }
            Ok::<_, TlsError>(TickOutcome::idle(renewed.into()))
        };
        ticker.run(shutdown, renew).await;
    }

    fn unusable(&self, cause: &rustls::Error) -> TlsError {
        unusable(self.certificate.setting, self.key.setting, cause)
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().clone())
    }
}

impl OwnedFile {
    fn as_ref(&self) -> PemFile<'_> {
        PemFile { setting: self.setting, path: &self.path }
    }
}

impl From<PemFile<'_>> for OwnedFile {
    fn from(file: PemFile<'_>) -> Self {
        Self { setting: file.setting, path: file.path.to_owned() }
    }
}

fn read(certificate: PemFile<'_>, key: PemFile<'_>) -> Result<Option<CertifiedKey>, TlsError> {
    let Some(identity) = Identity::of(certificate, key)? else { return Ok(None) };
    CertifiedKey::from_der(identity.chain, identity.key, &default_provider())
        .map(Some)
        .map_err(|cause| unusable(certificate.setting, key.setting, &cause))
}

fn unusable(certificate: &'static str, key: &'static str, cause: &rustls::Error) -> TlsError {
    TlsError::Identity { certificate, key, cause: cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// A certificate and its key as PEM.
    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn at(folder: &Path) -> Result<Option<ServerTls>, TlsError> {
        let [certificate, key] = ["cert.pem", "key.pem"]
            .map(|name| folder.join(name).into_os_string().into_string().unwrap());
        let certificate = PemFile { setting: "x.tls_cert_file", path: &certificate };
        ServerTls::of(certificate, PemFile { setting: "x.tls_key_file", path: &key })
    }

    #[test]
    fn another_pair_is_shown_from_then_on_and_a_half_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let (certificate, key) = pair();
        write("cert.pem", &certificate);
        write("key.pem", &key);
        let tls = at(folder.path()).unwrap().unwrap();
        tls.config(&["h2"]).unwrap();
        let shown = || tls.current.0.read().cert.clone();
        let first = shown();
        assert_eq!(tls.renew(), Ok(false));
        let (certificate, key) = pair();
        write("cert.pem", &certificate);
        let half = tls.renew().unwrap_err().to_string();
        assert!(half.contains("`x.tls_cert_file` and the key of `x.tls_key_file`"), "{half}");
        assert_eq!(shown(), first);
        write("key.pem", &key);
        assert_eq!(tls.renew(), Ok(true));
        assert_ne!(shown(), first);
        fs::remove_file(folder.path().join("key.pem")).unwrap();
        assert!(matches!(tls.renew(), Err(TlsError::Unreadable { setting: "x.tls_key_file", .. })));
    }

    #[test]
    fn without_files_there_is_no_tls_and_one_of_two_is_an_error() {
        let none = PemFile { setting: "x.tls_cert_file", path: "" };
        let missing = PemFile { setting: "x.tls_key_file", path: "" };
        assert!(ServerTls::of(none, missing).unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cert.pem");
        fs::write(&path, pair().0).unwrap();
        let given = PemFile { path: path.to_str().unwrap(), ..none };
        let half = TlsError::Half { given: "x.tls_cert_file", missing: "x.tls_key_file" };
        assert_eq!(ServerTls::of(given, missing).unwrap_err(), half);
    }
}
