//! The API's address: the one that was asked for, or the next that is free.

use super::engine::owner_of;
use crate::failure::Failure;
use runtime::config::Config;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

/// Ports that are tried after the default one.
const TRIES: u16 = 100;

/// Whether somebody chose the address: then no other will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By argument, variable or file.
    Given,
    /// It is the default: the next free port will do.
    Default,
}

/// Whose choice the address of `config` is.
pub fn choice_of(config: &Config, given: Option<SocketAddr>) -> Choice {
    let default = SocketAddr::from(([127, 0, 0, 1], 8080));
    if given.is_some() || config.api.listen != default { Choice::Given } else { Choice::Default }
}

/// An address that can be listened on right now.
pub fn settle(wanted: SocketAddr, choice: Choice) -> Result<SocketAddr, Failure> {
    let mut address = wanted;
    loop {
        let taken = match TcpListener::bind(address) {
            Ok(_) => return Ok(address),
            Err(error) if error.kind() == ErrorKind::AddrInUse => error,
            Err(error) => return Err(refused(address, &error)),
        };
        let next = address.port().checked_add(1);
        match next.filter(|port| choice == Choice::Default && *port - wanted.port() <= TRIES) {
            Some(port) => address.set_port(port),
            None => return Err(refused(address, &taken)),
        }
    }
}

/// Why an address cannot be listened on, and what to do.
pub fn refused(address: SocketAddr, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::AddrInUse {
        let owner = owner_of(address);
        return Failure::failed(format!(
            "{address} is in use by {owner}; stop it, or choose another address with --listen (127.0.0.1:0: any free port)"
        ));
    }
    Failure::failed(format!(
        "cannot listen on {address}: {error}; choose another address with --listen"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_default_moves_on_and_a_taken_choice_names_the_owner() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let text = settle(address, Choice::Given).unwrap_err().to_string();
        assert!(text.contains(&format!("(pid {})", std::process::id())), "{text}");
        let other = settle(address, Choice::Default).unwrap();
        assert!(other.port() > address.port());
    }
}
