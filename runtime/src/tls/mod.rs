//! Whom this process trusts when it connects with TLS, and how it proves who it is, as client and as server.
//!
//! The one place that reads certificates, but for Postgres' (sqlx reads those that its URL names). Trusted are Mozilla's roots, those of this machine
//! (`SSL_CERT_FILE` and `SSL_CERT_DIR` may name others), and those of the file that a setting names. The rule: a file that was named
//! and cannot be used ends the start, with the setting and the path; nothing is ever accepted unverified.

mod server;

pub use server::ServerTls;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::sync::{Arc, OnceLock};

static OF_THIS_MACHINE: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();

/// Why TLS cannot be set up as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read.
    #[error("`{setting}` names {path}, which cannot be read: {cause}")]
    Unreadable {
        /// The setting.
        setting: &'static str,
        /// The file.
        path: String,
        /// What the system says.
        cause: String,
    },
    /// A file that holds something else.
    #[error("`{setting}` names {path}, which holds no {wanted} in PEM form")]
    NoPem {
        /// The setting.
        setting: &'static str,
        /// The file.
        path: String,
        /// What it should hold.
        wanted: &'static str,
    },
    /// A certificate without its key, or the other way.
    #[error("`{given}` is set and `{missing}` is not; set both or none")]
    Half {
        /// The setting that names a file.
        given: &'static str,
        /// The one that does not.
        missing: &'static str,
    },
    /// A certificate and a key of another one.
    #[error(
        "the certificate of `{certificate}` and the key of `{key}` cannot be used together: {cause}"
    )]
    Identity {
        /// The certificate's setting.
        certificate: &'static str,
        /// The key's setting.
        key: &'static str,
        /// What is wrong.
        cause: String,
    },
}

/// A file as a setting names it; an empty path means none.
#[derive(Debug, Clone, Copy)]
pub struct PemFile<'a> {
    /// The setting.
    pub setting: &'static str,
    /// Its value.
    pub path: &'a str,
}

/// Roots that are trusted.
#[derive(Debug, Clone)]
pub struct Trust {
    certificates: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
}

/// A certificate for servers that want to know who connects, with its key. The key does not show in `Debug`.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    settings: [&'static str; 2],
    /// The certificate, and those between it and its root, as PEM.
    pub certificate_pem: Vec<u8>,
    /// The key as PEM.
    pub key_pem: Vec<u8>,
}

impl Trust {
    /// Mozilla's roots, this machine's, and those in `own`.
    ///
    /// # Errors
    /// When `own` names a file that cannot be read or holds no certificate.
    pub fn with(own: PemFile<'_>) -> Result<Self, TlsError> {
        let mut this = Self { certificates: Vec::new(), roots: RootCertStore::empty() };
        let mut seen = HashSet::new();
        let known = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        for certificate in known.chain(of_this_machine()) {
            // One that cannot be a root is no use and no harm: there are odd ones in the stores of old machines.
            if seen.insert(certificate) {
                this.add(certificate);
            }
        }
        if let Some(text) = own.read()? {
            let (mut all, mut usable) = (CertificateDer::pem_slice_iter(&text), 0);
            while let Some(Ok(certificate)) = all.next() {
                usable += usize::from(this.add(&certificate));
            }
            if usable == 0 {
                return Err(own.without("certificate"));
            }
        }
        Ok(this)
    }

    fn add(&mut self, certificate: &CertificateDer<'_>) -> bool {
        let certificate = certificate.clone().into_owned();
        let is_root = self.roots.add(certificate.clone()).is_ok();
        if is_root {
            self.certificates.push(certificate);
        }
        is_root
    }

    /// For libraries on rustls.
    #[must_use]
    pub fn roots(&self) -> &RootCertStore {
        &self.roots
    }

    /// For libraries that read PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        let mut text = String::new();
        for certificate in &self.certificates {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                STANDARD.encode(certificate)
            );
        }
        text
    }

    /// Settings of a client that trusts these, and shows `identity` to servers that ask.
    ///
    /// # Errors
    /// When the certificate and the key of `identity` do not belong together.
    pub fn client(&self, identity: Option<&Identity>) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let failed = |cause: rustls::Error| {
            let [certificate, key] = identity.map_or(["", ""], |identity| identity.settings);
            TlsError::Identity { certificate, key, cause: cause.to_string() }
        };
        let trusting = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_root_certificates(self.roots.clone());
        match identity {
            None => Ok(trusting.with_no_client_auth()),
            Some(identity) => trusting
                .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
                .map_err(failed),
        }
    }
}

impl Identity {
    /// Reads both files; none where both settings are empty.
    ///
    /// # Errors
    /// When one of them cannot be read, holds something else, or is missing.
    pub fn of(certificate: PemFile<'_>, key: PemFile<'_>) -> Result<Option<Self>, TlsError> {
        let half = |given: PemFile<'_>, missing: PemFile<'_>| TlsError::Half {
            given: given.setting,
            missing: missing.setting,
        };
        let (certificate_pem, key_pem) = match (certificate.read()?, key.read()?) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(half(certificate, key)),
            (None, Some(_)) => return Err(half(key, certificate)),
        };
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(&certificate_pem).filter_map(Result::ok).collect();
        if chain.is_empty() {
            return Err(certificate.without("certificate"));
        }
        let settings = [certificate.setting, key.setting];
        let key =
            PrivateKeyDer::from_pem_slice(&key_pem).map_err(|_| key.without("private key"))?;
        Ok(Some(Self { chain, key, settings, certificate_pem, key_pem }))
    }
}

impl PemFile<'_> {
    fn read(&self) -> Result<Option<Vec<u8>>, TlsError> {
        if self.path.is_empty() {
            return Ok(None);
        }
        fs::read(self.path).map(Some).map_err(|error| TlsError::Unreadable {
            setting: self.setting,
            path: self.path.to_owned(),
            cause: error.to_string(),
        })
    }

    fn without(&self, wanted: &'static str) -> TlsError {
        TlsError::NoPem { setting: self.setting, path: self.path.to_owned(), wanted }
    }
}

/// What to do about a handshake that failed for `cause`, the text of an error chain; none where that has nothing to do with TLS.
/// `section` is the part of the settings that is about the server.
#[must_use]
pub fn advice(cause: &str, section: &str) -> Option<String> {
    let holds = |words: &[&str]| words.iter().any(|word| cause.contains(word));
    let ca_file = if section == "telemetry" { "otlp_ca_file" } else { "ca_file" };
    if holds(&["UnknownIssuer", "BadSignature", "CaUsedAsEndEntity"]) {
        return Some(format!(
            "no CA that is trusted here has signed the server's certificate: name the file of its CA in `{section}.{ca_file}`"
        ));
    }
    if holds(&["NotValidForName", "not valid for name"]) {
        return Some(
            "the server's certificate is for other names: connect by one of them".to_owned(),
        );
    }
    if holds(&["CertificateRequired", "alert: BadCertificate", "alert: UnknownCA"]) {
        return Some(format!(
            "the server wants a certificate from us, of a CA that it trusts: see `{section}.client_cert_file`"
        ));
    }
    holds(&["InvalidContentType"]).then(|| "the server does not speak TLS on this port".to_owned())
}

fn of_this_machine() -> &'static [CertificateDer<'static>] {
    OF_THIS_MACHINE.get_or_init(|| {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "Some root certificates of this machine cannot be read: {error}");
        }
        found.certs
    })
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("settings", &self.settings).finish_non_exhaustive()
    }
}
