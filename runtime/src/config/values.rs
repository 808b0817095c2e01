//! How the text of a setting becomes a value: durations, secrets, addresses.
//!
//! Used by `#[serde(deserialize_with)]` in the section structs. The messages say what form is wanted.

use domain::id::PlanName;
use domain::time::parse_duration;
use ipnet::IpNet;
use secrecy::SecretString;
use serde::de::Error;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// `"15s"`.
pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// Text that is never shown.
pub(super) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
}

/// `"free"`, or nothing.
pub(super) fn plan_if_any<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PlanName>, D::Error> {
    let text = String::deserialize(from)?;
    let plan = (!text.is_empty()).then(|| text.parse());
    plan.transpose().map_err(|_| D::Error::custom(format!("\"{text}\" is no name of a plan")))
}

/// `["10.0.0.0/8", "192.0.2.7"]`.
pub(super) fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let one = |text: &String| {
        let network = text.parse::<IpNet>().ok();
        network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)).ok_or_else(|| {
            D::Error::custom(format!(
                "\"{text}\" is no network; use an address such as 192.0.2.7, or 10.0.0.0/8 or fd00::/8"
            ))
        })
    };
    texts.iter().map(one).collect()
}

/// `["10.0.0.2", "10.0.0.3:5353", "[fd00::53]:53"]`: name servers, on port 53 where none is given.
pub(super) fn name_servers<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<SocketAddr>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let one = |text: &String| {
        let plain = || text.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, 53));
        text.parse().ok().or_else(plain).ok_or_else(|| {
            D::Error::custom(format!(
                "\"{text}\" is no name server; use an address such as 10.0.0.2, 10.0.0.2:5353 or [fd00::53]:53"
            ))
        })
    };
    texts.iter().map(one).collect()
}

/// An address, or nothing.
pub(super) fn address_if_any<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() { Ok(None) } else { address(StrDeserializer::new(&text)).map(Some) }
}

/// `"127.0.0.1:8080"`, `"[::1]:0"`.
pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!(
            "\"{text}\" is not an address; use IP:port, for example 127.0.0.1:8080, 0.0.0.0:8080 or [::]:8080"
        ))
    })
}
