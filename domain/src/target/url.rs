//! Which URLs an HTTP task may have, at first and after a redirect.
//!
//! The host is what the WHATWG rules make of it, as in a browser: `0x7f.1`, `2130706433` and `0177.0.0.1` are all
//! 127.0.0.1, and names in other scripts become their ASCII form. So everybody behind means the same host.

use url::Url;

/// Longest URL, bytes.
pub const MAX_URL: usize = 2048;

/// Why a text is not the URL of an HTTP task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// Over [`MAX_URL`].
    #[error("must have {MAX_URL} bytes at most")]
    TooLong,
    /// Not a URL, or a relative one.
    #[error("must be a whole URL such as \"https://example.com/path\", without spaces")]
    Malformed,
    /// Another scheme.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// `user:password@`.
    #[error("must not hold a user name or password; send an `Authorization` header instead")]
    Credentials,
    /// Port 0.
    #[error("must not name port 0")]
    Port,
    /// A redirect from https to http.
    #[error("must not lead from https to http")]
    Downgrade,
}

/// Reads the URL of an HTTP task. A fragment (`#...`) is dropped: it is never sent.
///
/// # Errors
/// What is wrong with it.
pub fn parse_url(text: &str) -> Result<Url, UrlProblem> {
    checked(text, Url::parse)
}

/// Reads the `Location` of an answer from `base`; it may be relative.
///
/// # Errors
/// What is wrong with where it leads.
pub fn redirect_url(base: &Url, location: &str) -> Result<Url, UrlProblem> {
    let url = checked(location, |text| base.join(text))?;
    if base.scheme() == "https" && url.scheme() != "https" {
        return Err(UrlProblem::Downgrade);
    }
    Ok(url)
}

fn checked(
    text: &str,
    parse: impl FnOnce(&str) -> Result<Url, url::ParseError>,
) -> Result<Url, UrlProblem> {
    if text.len() > MAX_URL {
        return Err(UrlProblem::TooLong);
    }
    // The parser would leave these out in silence.
    if text.contains(|c: char| c.is_ascii_control() || c.is_whitespace()) {
        return Err(UrlProblem::Malformed);
    }
    let mut url = parse(text).map_err(|_| UrlProblem::Malformed)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlProblem::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlProblem::Credentials);
    }
    match (url.host_str(), url.port()) {
        (None | Some(""), _) => return Err(UrlProblem::Malformed),
        (_, Some(0)) => return Err(UrlProblem::Port),
        _ => {}
    }
    url.set_fragment(None);
    // Letters that must be escaped make it longer.
    if url.as_str().len() > 3 * MAX_URL { Err(UrlProblem::TooLong) } else { Ok(url) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_any_form_are_the_address_they_mean() {
        for (text, host) in [
            ("http://2130706433/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0x7f000001/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://127.0.0.1./", "127.0.0.1"),
            ("http://①②⑦.⓪.⓪.①/", "127.0.0.1"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
            ("http://EXAMPLE.com/", "example.com"),
            ("http://bücher.example/", "xn--bcher-kva.example"),
            ("http://example.com\\@127.0.0.1/", "example.com"),
        ] {
            assert_eq!(parse_url(text).unwrap().host_str(), Some(host), "{text}");
        }
        assert_eq!(parse_url("http://a/b?c#d").unwrap().as_str(), "http://a/b?c");
    }

    #[test]
    fn what_is_no_plain_web_url_is_refused_with_its_reason() {
        let long = format!("http://a/{}", "x".repeat(MAX_URL));
        for (text, problem) in [
            ("", UrlProblem::Malformed),
            ("/path", UrlProblem::Malformed),
            ("http://", UrlProblem::Malformed),
            ("http://a b/", UrlProblem::Malformed),
            (" http://a/", UrlProblem::Malformed),
            ("http://a/\r\nHost: b", UrlProblem::Malformed),
            ("http://256.1.1.1/", UrlProblem::Malformed),
            ("http://a:65536/", UrlProblem::Malformed),
            ("file:///etc/passwd", UrlProblem::Scheme),
            ("ftp://a/", UrlProblem::Scheme),
            ("unix:/run/docker.sock", UrlProblem::Scheme),
            ("http+unix://%2Frun%2Fdocker.sock/", UrlProblem::Scheme),
            ("gopher://a:6379/_SET", UrlProblem::Scheme),
            ("data:text/plain,x", UrlProblem::Scheme),
            ("http://user@a/", UrlProblem::Credentials),
            ("http://user:word@a/", UrlProblem::Credentials),
            ("http://:word@a/", UrlProblem::Credentials),
            ("http://a:0/", UrlProblem::Port),
            (long.as_str(), UrlProblem::TooLong),
        ] {
            assert_eq!(parse_url(text), Err(problem), "{text}");
        }
    }

    #[test]
    fn a_redirect_is_held_to_the_same_and_never_leaves_https() {
        let base = parse_url("https://a.example/x/y").unwrap();
        let to = |location| redirect_url(&base, location).map(|url| url.to_string());
        assert_eq!(to("../z?q").unwrap(), "https://a.example/z?q");
        assert_eq!(to("//b.example/").unwrap(), "https://b.example/");
        assert_eq!(to("http://a.example/"), Err(UrlProblem::Downgrade));
        assert_eq!(to("file:///etc/passwd"), Err(UrlProblem::Scheme));
        assert_eq!(to("https://u@b.example/"), Err(UrlProblem::Credentials));
        let plain = parse_url("http://a.example/").unwrap();
        assert!(redirect_url(&plain, "https://a.example/").is_ok());
    }
}
