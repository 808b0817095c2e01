//! Whether a form was sent by a page of this dashboard, as the browser says.
//!
//! Besides the token of each form: a page elsewhere can make a browser send a form, but not lie about where it was.

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderName, ORIGIN};

static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether it came from a page of this host. Refused where the browser says nothing of it.
pub(crate) fn is_from_here(request: &HttpRequest) -> bool {
    let headers = request.headers();
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    is_own(text(&FETCH_SITE), text(&ORIGIN), text(&HOST))
}

fn is_own(site: Option<&str>, origin: Option<&str>, host: Option<&str>) -> bool {
    // `none`: the person themselves, by reloading a page that a form led to.
    let same_site = site.is_none_or(|site| site == "same-origin" || site == "none");
    let same_host = origin.map(|origin| {
        let bare = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        bare.is_some() && bare == host
    });
    match (site, same_host) {
        (None, None) => false,
        // Behind a proxy the host may have another name inside; then the browser's own word counts.
        (Some(_), _) => same_site,
        (None, Some(same_host)) => same_host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_of_this_host_may_send_a_form() {
        let host = Some("berth.example:8080");
        for (site, origin, own) in [
            (None, None, false),
            (None, Some("null"), false),
            (None, Some("https://berth.example:8080"), true),
            (None, Some("http://berth.example:8080"), true),
            (None, Some("https://berth.example"), false),
            (None, Some("https://evil.example"), false),
            (None, Some("https://x.berth.example:8080"), false),
            (None, Some("berth.example:8080"), false),
            (Some("same-origin"), Some("https://berth.example:8080"), true),
            (Some("none"), None, true),
            (Some("same-site"), Some("https://x.berth.example"), false),
            (Some("cross-site"), Some("null"), false),
            (Some("cross-site"), None, false),
        ] {
            assert_eq!(is_own(site, origin, host), own, "{site:?} {origin:?}");
        }
        assert!(!is_own(None, Some("http://"), None));
    }
}
