//! What `Accept-Encoding` asks for.

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap};

/// Whether the client takes gzip.
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    let mut coded = values.flat_map(|value| value.split(',')).map(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f32>);
        (name, quality.is_none_or(|quality| quality.is_ok_and(|quality| quality > 0.0)))
    });
    coded.any(|(name, wanted)| wanted && name.eq_ignore_ascii_case("gzip"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    #[test]
    fn gzip_is_taken_where_the_client_says_so() {
        for (value, wanted) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, br", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(accepts_gzip(&headers), wanted, "{value}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
