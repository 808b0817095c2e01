//! The environment that Terraform gives a plugin, and the line with which the plugin answers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::path::Path;

/// Set by Terraform, to this value, so that a person who starts the program learns what it is.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// What Terraform wants of the plugin.
#[derive(Debug, Default)]
pub struct Wanted {
    /// PEM of the certificate with which it connects.
    pub client_certificate: Option<String>,
}

/// Why the program does not serve.
#[derive(Debug, PartialEq, Eq)]
pub enum NotServed {
    /// A person started it.
    NotByTerraform,
    /// Terraform is too old for protocol 6.
    Protocol(String),
}

impl Wanted {
    /// Reads the environment.
    ///
    /// # Errors
    /// When it is not that of a plugin of protocol 6.
    pub fn read(environment: impl Fn(&str) -> Option<String>) -> Result<Self, NotServed> {
        if environment(COOKIE.0).as_deref() != Some(COOKIE.1) {
            return Err(NotServed::NotByTerraform);
        }
        match environment("PLUGIN_PROTOCOL_VERSIONS") {
            Some(versions) if !versions.split(',').any(|version| version.trim() == "6") => {
                Err(NotServed::Protocol(versions))
            }
            _ => Ok(Self {
                client_certificate: environment("PLUGIN_CLIENT_CERT").filter(|pem| !pem.is_empty()),
            }),
        }
    }
}

/// The announcement: core protocol 1, plugin protocol 6, a Unix socket, gRPC, and the DER of our certificate if Terraform gave its own.
pub fn line(socket: &Path, certificate: Option<&[u8]>) -> String {
    let certificate = certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
    format!("1|6|unix|{}|grpc|{certificate}", socket.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Wanted, NotServed> {
        Wanted::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_terraform_with_protocol_6_is_served() {
        assert_eq!(read(&[]).unwrap_err(), NotServed::NotByTerraform);
        assert_eq!(read(&[(COOKIE.0, "x")]).unwrap_err(), NotServed::NotByTerraform);
        let old = read(&[COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", "4,5")]).unwrap_err();
        assert_eq!(old, NotServed::Protocol("4,5".to_owned()));
        let wanted =
            read(&[COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", "5,6"), ("PLUGIN_CLIENT_CERT", "pem")]);
        assert_eq!(wanted.unwrap().client_certificate.as_deref(), Some("pem"));
    }

    #[test]
    fn the_line_has_six_fields_and_no_padding() {
        let line = line(Path::new("/tmp/s"), Some(b"abcd"));
        assert_eq!(line, "1|6|unix|/tmp/s|grpc|YWJjZA");
    }
}
