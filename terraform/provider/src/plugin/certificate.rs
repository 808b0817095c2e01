//! Mutual TLS as go-plugin does it: each side makes a certificate per start and trusts exactly that of the other.

use super::p521;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{self, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme, version,
};
use std::sync::Arc;

/// What goes into the announcement, and what accepts connections.
pub struct Tls {
    /// DER of our certificate.
    pub certificate: Vec<u8>,
    /// Accepts only the holder of Terraform's certificate.
    pub config: Arc<ServerConfig>,
}

/// A certificate of our own, and TLS 1.3 that asks for the one in `client_pem`.
///
/// # Errors
/// When `client_pem` is no certificate.
pub fn tls(client_pem: &str) -> Result<Tls, String> {
    let client = CertificateDer::from_pem_slice(client_pem.as_bytes())
        .map_err(|error| format!("PLUGIN_CLIENT_CERT is no certificate: {error}"))?;
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let mut parameters =
        CertificateParams::new(["localhost".to_owned()]).map_err(|error| error.to_string())?;
    // Terraform puts it into its pool of roots, and checks it as the server's.
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate =
        parameters.self_signed(&key).map_err(|error| error.to_string())?.der().clone();
    let private = PrivateKeyDer::try_from(key.serialize_der())?;
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| error.to_string())?
            .with_client_cert_verifier(Arc::new(OnlyThis(client.into_owned())))
            .with_single_cert(vec![certificate.clone()], private)
            .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Tls { certificate: certificate.to_vec(), config: Arc::new(config) })
}

/// Accepts one certificate, byte for byte, from whoever has its key.
#[derive(Debug)]
struct OnlyThis(CertificateDer<'static>);

impl ClientCertVerifier for OnlyThis {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if end_entity.as_ref() == self.0.as_ref() {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = p521::algorithms(signature.scheme);
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        p521::schemes()
    }
}
