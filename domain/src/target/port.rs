//! Ports on which other things than HTTP listen.
//!
//! A request sent there may be taken for a command (SMTP and Redis read lines), so they are closed even on public
//! addresses, except in pools that allow private targets: their operator knows what stands behind.

/// Port and what usually listens there.
const SERVICES: [(u16, &str); 27] = [
    (20, "FTP"),
    (21, "FTP"),
    (22, "SSH"),
    (23, "Telnet"),
    (25, "SMTP"),
    (53, "DNS"),
    (110, "POP3"),
    (111, "RPC"),
    (135, "RPC"),
    (139, "NetBIOS"),
    (143, "IMAP"),
    (389, "LDAP"),
    (445, "SMB"),
    (465, "SMTP"),
    (587, "SMTP"),
    (636, "LDAP"),
    (993, "IMAP"),
    (995, "POP3"),
    (2379, "etcd"),
    (3306, "MySQL"),
    (3389, "RDP"),
    (5432, "Postgres"),
    (5671, "AMQP"),
    (5672, "AMQP"),
    (6379, "Redis"),
    (11211, "memcached"),
    (27017, "MongoDB"),
];

/// What usually listens on `port`, where that is not HTTP.
#[must_use]
pub fn service_of(port: u16) -> Option<&'static str> {
    SERVICES.iter().find(|(known, _)| *known == port).map(|(_, service)| *service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_and_mail_are_known_and_web_ports_are_free() {
        for port in [22, 25, 5432, 5672, 6379] {
            assert!(service_of(port).is_some(), "{port}");
        }
        for port in [80, 443, 3000, 8000, 8080, 8443] {
            assert_eq!(service_of(port), None, "{port}");
        }
    }
}
