//! The pages of terraform/docs: written from the schemas and the examples.

use crate::provider::{Registry, settings};
use crate::schema::{Page, page};
use std::fs;
use std::path::Path;

/// Writes every page into `docs`, with the examples of `examples`.
///
/// # Errors
/// When a file cannot be written.
pub fn write(examples: &Path, docs: &Path) -> Result<(), String> {
    for (name, text) in pages(examples) {
        let path = docs.join(&name);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(())
}

/// Each page by its file.
fn pages(examples: &Path) -> Vec<(String, String)> {
    let registry = Registry::new();
    let example = |name: &str| fs::read_to_string(examples.join(name).join("main.tf")).ok();
    let attributes = settings();
    let provider = Page {
        sort: "Provider",
        name: "berth",
        text: "Plans, price books, pools, tenants and what tenants keep, as code. See docs/terraform.md.",
        attributes: &attributes,
        example: None,
        import: None,
    };
    let mut pages = vec![("index.md".to_owned(), page(&provider))];
    for (name, entry) in &registry.resources {
        let of = Page {
            sort: "Resource",
            name,
            text: entry.does.text(),
            attributes: &entry.attributes,
            example: example(name),
            import: Some(entry.does.import_example()),
        };
        pages.push((format!("resources/{}.md", short(name)), page(&of)));
    }
    for (name, entry) in &registry.data {
        let of = Page {
            sort: "Data source",
            name,
            text: entry.does.text(),
            attributes: &entry.attributes,
            example: example(&format!("data_{name}")),
            import: None,
        };
        pages.push((format!("data-sources/{}.md", short(name)), page(&of)));
    }
    for (name, entry) in &registry.ephemeral {
        let of = Page {
            sort: "Ephemeral resource",
            name,
            text: entry.does.text(),
            attributes: &entry.attributes,
            example: example(&format!("ephemeral_{name}")),
            import: None,
        };
        pages.push((format!("ephemeral-resources/{}.md", short(name)), page(&of)));
    }
    pages
}

fn short(name: &str) -> &str {
    name.trim_start_matches("berth_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_pages_are_those_of_the_schemas_and_each_type_has_an_example() {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let examples = here.join("examples");
        for (name, text) in pages(&examples) {
            let written = fs::read_to_string(here.join("docs").join(&name)).unwrap_or_default();
            assert!(
                written == text,
                "terraform/docs/{name} is not up to date: make terraform-docs"
            );
            assert!(name == "index.md" || text.contains("```hcl"), "{name} has no example");
        }
    }
}
