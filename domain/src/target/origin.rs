//! What a call is addressed to, as far as retries are concerned: scheme, host and port.
//!
//! Whatever answers there fails as one. Paths are left out, because they are many and the machine behind them is one.

use super::url::parse_url;

/// How a run of an HTTP task begins, as this program writes it: the method, then the URL.
const HTTP: &str = r#"{"http":{"method":""#;
const URL: &str = r#"","url":"#;

/// Bytes of a run's JSON that are enough for [`origin_of_run`]: each letter of a URL may be escaped.
pub const ORIGIN_BYTES: usize = 6 * super::url::MAX_URL + 64;

/// The target of a run of whose JSON only the beginning was read, [`ORIGIN_BYTES`] of it: what follows may be a large body. The same
/// as [`crate::task::Run::target`] of the whole.
#[must_use]
pub fn origin_of_run(json: &str) -> Option<String> {
    let (_method, rest) = json.strip_prefix(HTTP)?.split_once(URL)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    origin_of(&values.next()?.ok()?)
}

/// The target of a call of `url`; `None` where that is no URL.
#[must_use]
pub fn origin_of(url: &str) -> Option<String> {
    let url = parse_url(url).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    Some(format!("{}://{host}:{port}", url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Run;

    /// The target of a run as it is stored.
    fn origin(run: &str) -> Option<String> {
        let run: Run = serde_json::from_str(run).unwrap();
        let target = origin_of_run(&run.to_json());
        assert_eq!(run.target(), target);
        target
    }

    #[test]
    fn a_call_is_addressed_to_scheme_host_and_port_whatever_the_path() {
        for (url, target) in [
            ("http://a.example/x?y", "http://a.example:80"),
            ("https://A.example", "https://a.example:443"),
            ("https://a.example:8443/x", "https://a.example:8443"),
            ("http://0x7f.1:81/", "http://127.0.0.1:81"),
            ("http://[::1]:81/\\\"", "http://[::1]:81"),
        ] {
            let run = format!(
                r#"{{"http":{{"body":"{{\"url\":\"http://b/\"}}","url":"{url}","method":"POST","headers":{{"A":"b"}}}}}}"#
            );
            assert_eq!(origin(&run).as_deref(), Some(target), "{url}");
        }
    }

    #[test]
    fn what_calls_nothing_that_is_known_has_no_target() {
        assert_eq!(origin(r#"{"noop":{}}"#), None);
        let argv = r#"{"command":{"argv":["curl","http://a/"]}}"#;
        assert_eq!(origin(argv), None);
        for broken in [
            "",
            "null",
            r#"{"http":{"method":"GET","url":"#,
            r#"{"http":{"method":"GET","url":"nowhere"}}"#,
        ] {
            assert_eq!(origin_of_run(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_beginning_of_a_run_is_enough() {
        let url = format!("http://a.example/{}", "x".repeat(super::super::MAX_URL - 20));
        let (url, body) = (serde_json::json!(url), "y".repeat(100_000));
        let run: Run = serde_json::from_value(
            serde_json::json!({"http": {"method": "POST", "url": url, "body": body}}),
        )
        .unwrap();
        let json = serde_json::to_string(&run).unwrap();
        assert_eq!(origin_of_run(&json[..ORIGIN_BYTES]).as_deref(), Some("http://a.example:80"));
    }
}
