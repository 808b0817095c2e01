//! ECDSA on P-521 with SHA-512: the key of the certificate that Terraform makes for each start of a plugin.
//!
//! ring does not know this curve. One signature per start is verified with it and nothing else.

use p521::ecdsa::signature::Verifier;
use p521::ecdsa::{Signature, VerifyingKey};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};
use rustls::{SignatureScheme, crypto};

/// The curve as an algorithm of rustls.
#[derive(Debug)]
struct P521;

impl SignatureVerificationAlgorithm for P521 {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_SHA512
    }
}

static ALGORITHMS: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[&P521],
    mapping: &[(SignatureScheme::ECDSA_NISTP521_SHA512, &[&P521])],
};

/// The algorithms that know `scheme`: this curve's, or those of ring.
pub fn algorithms(scheme: SignatureScheme) -> WebPkiSupportedAlgorithms {
    if scheme == SignatureScheme::ECDSA_NISTP521_SHA512 {
        return ALGORITHMS;
    }
    crypto::ring::default_provider().signature_verification_algorithms
}

/// Every scheme.
pub fn schemes() -> Vec<SignatureScheme> {
    let mut schemes = ALGORITHMS.supported_schemes();
    schemes.extend(
        crypto::ring::default_provider().signature_verification_algorithms.supported_schemes(),
    );
    schemes
}
