//! Names in paths: text that people choose, percent-encoded.

use super::head::Head;
use percent_encoding::percent_decode_str;

/// What stands in the path where the route has `{part}`; `None` where that is no UTF-8.
///
/// Decoded as it was sent: of what the router hands out some is decoded and some is not.
pub(crate) fn text_in_path(request: &Head, part: &str) -> Option<String> {
    let pattern = request.pattern()?;
    let is_part =
        |one: &str| one.strip_prefix('{').and_then(|one| one.strip_suffix('}')) == Some(part);
    let place = pattern.split('/').position(is_part)?;
    let sent = request.uri().path().split('/').nth(place)?;
    percent_decode_str(sent).decode_utf8().ok().map(|text| text.into_owned())
}
