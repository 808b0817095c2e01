//! Takes the files that `/docs` serves out of Swagger UI's archive and packs them with gzip: most clients take them so, and about a
//! quarter of the bytes is in the program.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::error::Error;
use std::fs::File;
use std::io::{self, Cursor};
use std::path::PathBuf;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its folder in the environment"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for part in ["swagger-ui.css", "swagger-ui-bundle.js"] {
        let end = format!("/dist/{part}");
        let paths = archive.file_names().collect::<Result<Vec<_>, _>>()?;
        let path = paths.iter().find(|path| path.ends_with(&end));
        let path =
            path.ok_or_else(|| format!("the archive of Swagger UI has no {part}"))?.to_string();
        let packed = File::create(out.join(part).with_added_extension("gz"))?;
        let mut encoder = GzEncoder::new(packed, Compression::best());
        io::copy(&mut archive.by_name(&path)?, &mut encoder)?;
        encoder.finish()?;
    }
    Ok(())
}
