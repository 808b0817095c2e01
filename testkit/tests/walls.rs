//! The walls between the crates: who may depend on whom, and who alone knows a library. And inside each crate: no
//! circle of modules.
//!
//! Run by `make check`. The crates are the architecture: a handler cannot write SQL because `api` cannot name sqlx.
//! The rule: the tables below are the whole truth for what is shipped (normal and build dependencies); a crate that is
//! not in them fails, so that a new one is placed on purpose. Development dependencies are free: tests may look
//! anywhere.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that cannot go on fails its test")]

mod circles;
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A crate and the crates of ours it may depend on.
const ARROWS: [(&str, &[&str]); 22] = [
    ("domain", &[]),
    // The wire and nothing behind it: customers link it with the client.
    ("api-types", &["domain"]),
    ("runtime", &["domain"]),
    ("store", &["domain", "runtime"]),
    ("bus", &["domain", "runtime"]),
    ("protocol", &["domain", "runtime"]),
    ("identity", &["domain", "runtime", "store"]),
    // A client of the API in its process: no SQL, and no permissions but what the API says.
    ("web", &["domain", "api-types", "runtime"]),
    ("api", &["domain", "api-types", "runtime", "store", "bus", "identity", "web"]),
    ("scheduler", &["domain", "runtime", "store", "bus"]),
    ("resource-manager", &["domain", "runtime", "store", "bus", "protocol"]),
    ("egress", &["domain", "runtime"]),
    ("executor", &["domain", "runtime", "protocol", "egress"]),
    // What it sends is what the API would show.
    ("notifier", &["domain", "api-types", "runtime", "store", "egress"]),
    ("client", &["domain", "api-types"]),
    // Its clock is virtual: what it could reach of the others would bring theirs.
    ("sim", &["domain"]),
    (
        "local",
        &[
            "domain",
            "runtime",
            "store",
            "bus",
            "identity",
            "client",
            "api",
            "scheduler",
            "resource-manager",
            "notifier",
            "executor",
        ],
    ),
    // `api` for the OpenAPI document, `executor` because a supervisor of a command is this binary.
    ("cli", &["domain", "runtime", "store", "bus", "client", "api", "executor", "sim", "local"]),
    // Test support and measurements: never shipped, so they may look behind any wall but another's test code.
    ("testkit", &["domain", "runtime", "store"]),
    ("e2e", &["domain", "runtime", "store", "bus", "client", "testkit"]),
    ("faults", &["runtime", "testkit", "e2e"]),
    ("bench", &["domain", "runtime", "store", "bus", "client", "testkit", "e2e"]),
];

/// A library, the only crates of ours that may name it, and what would break.
const OWNERS: [(&str, &[&str], &str); 6] = [
    (
        "sqlx",
        &["store"],
        "SQL outside `store` escapes its guards: tenant scope, expected state, lease token",
    ),
    ("lapin", &["bus"], "a role that speaks AMQP itself cannot run embedded, without a broker"),
    (
        "actix-web",
        &["api", "web"],
        "HTTP types outside `api` and `web` tie the logic to one web server and to its threads",
    ),
    (
        "redis",
        &["api"],
        "what Redis holds is counts that may be lost at any time: nothing else may come to depend on it",
    ),
    (
        "tonic",
        &["protocol", "resource-manager", "executor", "runtime", "testkit"],
        "only the executor stream and the export of telemetry are gRPC",
    ),
    (
        "hickory-resolver",
        &["egress"],
        "a name that a customer gives is looked up where its addresses are checked, and nowhere else",
    ),
];

/// Libraries `domain` must not name: it is pure, so that `sim` and tests can run it under any clock.
const IMPURE: [&str; 8] =
    ["tokio", "sqlx", "actix-web", "lapin", "tonic", "reqwest", "hyper", "redis"];

const ROLES: [&str; 4] = ["api", "scheduler", "resource-manager", "executor"];

/// The packages of this workspace, as cargo describes them.
fn packages() -> Vec<Value> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
        "--manifest-path",
        manifest,
    ];
    let output = Command::new(env!("CARGO")).args(arguments).output().expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// The roots of a package's library and programs.
fn roots(package: &Value) -> Vec<PathBuf> {
    let is_shipped = |target: &&Value| matches!(target["kind"][0].as_str(), Some("lib" | "bin"));
    let targets = package["targets"].as_array().expect("targets").iter().filter(is_shipped);
    targets.map(|target| PathBuf::from(target["src_path"].as_str().expect("a path"))).collect()
}

/// Dependencies by crate, of the kinds that `wanted` takes: `None` is a normal one.
fn dependencies(wanted: fn(Option<&str>) -> bool) -> BTreeMap<String, BTreeSet<String>> {
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let of = |package: &Value| {
        package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|dependency| wanted(dependency["kind"].as_str()))
            .map(name)
            .collect()
    };
    packages().iter().map(|package| (name(package), of(package))).collect()
}

/// Normal and build dependencies by crate.
fn shipped() -> BTreeMap<String, BTreeSet<String>> {
    dependencies(|kind| kind != Some("dev"))
}

/// The constructors of a `TenantScope`, and the only files of sources that may call each: whose authority it is.
const SCOPES: [(&str, &[&str]); 2] = [
    (
        "authenticated",
        &["identity/src/caller.rs", "identity/src/completion.rs", "identity/src/operator.rs"],
    ),
    ("of_role", &["api/src/limit/limiter.rs", "api/src/live/hub.rs"]),
];

fn why(from: &str, to: &str) -> &'static str {
    match (from, to) {
        ("domain", _) => {
            "`domain` is pure; everything may depend on it, so it can depend on nothing of ours"
        }
        (_, "testkit" | "e2e" | "faults" | "bench") => "test code must not be shipped",
        ("executor", "store" | "bus") => {
            "an executor runs customers' work and must hold no database or broker access"
        }
        (from, to) if ROLES.contains(&from) && ROLES.contains(&to) => {
            "roles meet in Postgres, on the bus and on the executor stream, never in code: each must run alone"
        }
        (_, "protocol") => "the executor stream is between resource-manager and executor only",
        ("client", _) => "the client is what customers link; it must not carry the server",
        _ => {
            "arrows point one way: domain <- runtime <- store, bus, protocol, egress <- identity <- roles <- local <- cli"
        }
    }
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let dependencies = shipped();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let mut broken = Vec::new();
    for (from, needs) in &dependencies {
        let Some(allowed) = allowed.get(from.as_str()) else {
            broken.push(format!(
                "`{from}` has no place yet: add it to ARROWS in testkit/tests/walls.rs"
            ));
            continue;
        };
        for to in needs.iter().filter(|to| dependencies.contains_key(*to)) {
            if !allowed.contains(&to.as_str()) {
                broken.push(format!("`{from}` -> `{to}` is forbidden: {}", why(from, to)));
            }
        }
    }
    assert!(broken.is_empty(), "broken walls:\n  {}", broken.join("\n  "));
}

#[test]
fn each_engine_library_is_known_to_its_owner_only() {
    let mut broken = Vec::new();
    for (from, needs) in shipped() {
        for (library, owners, reason) in OWNERS {
            // `sqlx-core`, `lapin-...`, `tonic-prost` and the like are the same library under another name.
            let named =
                needs.iter().find(|to| *to == library || to.starts_with(&format!("{library}-")));
            if let Some(named) = named.filter(|_| !owners.contains(&from.as_str())) {
                broken.push(format!("`{from}` names `{named}`, only {owners:?} may: {reason}"));
            }
        }
    }
    assert!(broken.is_empty(), "broken walls:\n  {}", broken.join("\n  "));
}

#[test]
fn domain_names_no_library_that_waits_or_talks() {
    let dependencies = shipped();
    let named: Vec<&str> =
        IMPURE.into_iter().filter(|library| dependencies["domain"].contains(*library)).collect();
    assert!(
        named.is_empty(),
        "`domain` names {named:?}: it must stay pure, or it cannot run under a virtual clock"
    );
}

/// Modules that need each other are one module in several files: none can be read, tested or moved without the others.
/// The rule at each level, from the crate's root down, is in `circles/mod.rs`: no circle between the children of a
/// module, nor between a child and the file of its parent.
#[test]
fn no_modules_of_a_crate_need_each_other_in_a_circle() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let sources = |path: &Path| std::fs::read_to_string(workspace.join(path)).ok();
    let mut found = Vec::new();
    for package in packages() {
        for root in roots(&package) {
            let root = root.strip_prefix(workspace).expect("a file of this workspace");
            for circle in circles::circles(root, &sources) {
                found.push(format!("{}: {circle}", root.display()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "move what both need to the lower module, or pass it in:\n  {}",
        found.join("\n  ")
    );
}

/// Source files below `folder`.
fn sources_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// A store function of a tenant asks for a `TenantScope`: who cannot make one cannot read another tenant's rows by mistake.
#[test]
fn a_tenants_scope_is_made_in_the_named_files_only() {
    const HOME: &str = "store/src/scope.rs";
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut callers: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut broken = Vec::new();
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        for path in sources_below(&manifest.with_file_name("src")) {
            let name = path.strip_prefix(workspace).expect("a file of this workspace");
            let name = name.display().to_string();
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                if line.contains("TenantScope as ") || line.contains("= TenantScope;") {
                    broken.push(format!("`{name}` gives `TenantScope` another name"));
                }
                for (constructor, _) in SCOPES {
                    if line.contains(&format!("TenantScope::{constructor}")) {
                        callers.entry(constructor).or_default().insert(name.clone());
                    }
                }
            }
        }
    }
    let home = std::fs::read_to_string(workspace.join(HOME)).expect("its source file");
    let public = home.lines().filter_map(|line| line.trim().strip_prefix("pub const fn "));
    let makers: Vec<&str> = public
        .filter(|rest| !rest.contains("self"))
        .filter_map(|rest| rest.split('(').next())
        .collect();
    let named: Vec<&str> = SCOPES.iter().map(|(constructor, _)| *constructor).collect();
    assert_eq!(makers, named, "{HOME} has constructors that SCOPES does not name");
    for (constructor, files) in SCOPES {
        let allowed: BTreeSet<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let calling = callers.remove(constructor).unwrap_or_default();
        for file in calling.symmetric_difference(&allowed) {
            let is_there =
                if allowed.contains(file) { "does not call it" } else { "may not call it" };
            broken.push(format!("`TenantScope::{constructor}`: `{file}` {is_there}"));
        }
    }
    assert!(
        broken.is_empty(),
        "take the scope of the caller or the operator:\n  {}",
        broken.join("\n  ")
    );
}

#[test]
fn the_tables_name_only_crates_that_exist() {
    let dependencies = shipped();
    let unknown: Vec<&str> = ARROWS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !dependencies.contains_key(*name))
        .collect();
    assert!(unknown.is_empty(), "walls.rs has rows for {unknown:?}, which are gone");
}
