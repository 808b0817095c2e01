//! Styles, the script and the icon: embedded, compressed once, under names that change with their content.
//!
//! So a browser may keep each for ever. Nothing is loaded from another host.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, VARY, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::sync::LazyLock;

/// Seconds of a year.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file of the dashboard.
#[derive(Debug)]
pub struct Asset {
    /// Its name: with a part of its hash.
    pub name: String,
    kind: &'static str,
    plain: &'static [u8],
    packed: Bytes,
}

impl Asset {
    fn new((stem, ending): (&str, &str), kind: &'static str, plain: &'static [u8]) -> Self {
        let hash = Sha256::digest(plain);
        let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        // Into memory: it cannot fail; where it does, the plain bytes are sent.
        let packed = packer.write_all(plain).and_then(|()| packer.finish()).unwrap_or_default();
        Self { name: format!("{stem}-{hash}.{ending}"), kind, plain, packed: packed.into() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/assets/{}", self.name)
    }

    /// Bytes that a browser loads.
    #[must_use]
    pub fn packed_bytes(&self) -> usize {
        self.packed.len()
    }

    fn answer(&self, gzip: bool) -> HttpResponse {
        let mut answer = HttpResponse::Ok();
        answer.content_type(self.kind);
        answer.insert_header((CACHE_CONTROL, FOR_EVER));
        answer.insert_header((VARY, "accept-encoding"));
        answer.insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
        if gzip && !self.packed.is_empty() {
            answer.insert_header((CONTENT_ENCODING, "gzip"));
            return answer.body(self.packed.clone());
        }
        answer.body(Bytes::from_static(self.plain))
    }
}

/// All files.
#[derive(Debug)]
pub struct Assets {
    /// The styles.
    pub style: Asset,
    /// The script.
    pub script: Asset,
    /// The icon.
    pub icon: Asset,
}

/// The files of this release.
pub static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new(
        ("berth", "css"),
        "text/css; charset=utf-8",
        include_bytes!("../assets/berth.css"),
    ),
    script: Asset::new(
        ("berth", "js"),
        "text/javascript; charset=utf-8",
        include_bytes!("../assets/berth.js"),
    ),
    icon: Asset::new(("berth", "svg"), "image/svg+xml", include_bytes!("../assets/berth.svg")),
});

/// The file with this name.
pub(crate) fn find(name: &str, gzip: bool) -> Option<HttpResponse> {
    let Assets { style, script, icon } = &*ASSETS;
    [style, script, icon].into_iter().find(|asset| asset.name == name).map(|it| it.answer(gzip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_with_the_content() {
        let named = |plain| Asset::new(("a", "css"), "text/css", plain).name;
        assert_eq!(named(b"a"), named(b"a"));
        assert_ne!(named(b"a"), named(b"b"));
    }

    #[test]
    fn the_script_is_within_its_budget() {
        assert!(ASSETS.script.packed_bytes() <= 15 * 1024, "{}", ASSETS.script.packed_bytes());
        let all = ASSETS.script.packed_bytes() + ASSETS.style.packed_bytes();
        assert!(all <= 60 * 1024, "{all} bytes leave too little of 90 KB to a page");
    }

    /// The policy of the pages would stop them, silently.
    #[test]
    fn neither_styles_nor_script_name_another_host_or_data() {
        for asset in [&ASSETS.style, &ASSETS.script] {
            let text = std::str::from_utf8(asset.plain).unwrap();
            for forbidden in ["http:", "https:", "data:", "@import", "eval(", "url("] {
                assert!(!text.contains(forbidden), "{}: {forbidden}", asset.name);
            }
        }
    }
}
