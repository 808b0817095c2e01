//! Puts the commit and its date into `berth --version`.
//!
//! From `BERTH_BUILD_COMMIT` and `SOURCE_DATE_EPOCH` where they are set, so that a source archive and a package build the
//! same program anywhere; else, in an optimised build, from git, if this folder is the top of a checkout; else there is
//! neither. A debug build asks no git: after each commit its program and tests would be compiled again, half a minute. This
//! runs again only when one of these variables, or the commit that is checked out, has changed.
#![expect(
    clippy::disallowed_methods,
    reason = "these variables are the build's, not settings of a role"
)]

use std::env;
use std::path::Path;
use std::process::Command;

/// Digits of the commit that are shown.
const DIGITS: usize = 9;

fn main() {
    let asked = ["BERTH_BUILD_COMMIT", "SOURCE_DATE_EPOCH"];
    for name in asked {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // Without any file named, cargo would run this after a change of any file of the crate.
    println!("cargo::rerun-if-changed=build.rs");
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let [commit, epoch] = asked.map(set);
    let (commit, date) = match (commit, epoch) {
        (Some(commit), epoch) => (Some(commit), epoch.and_then(|epoch| date_of(&epoch))),
        (None, Some(epoch)) => (from_git().map(|(commit, _)| commit), date_of(&epoch)),
        (None, None) => {
            from_git().map_or((None, None), |(commit, date)| (Some(commit), Some(date)))
        }
    };
    let known: Vec<String> =
        [commit.map(|commit| short(&commit)), date].into_iter().flatten().collect();
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = if known.is_empty() { version } else { format!("{version} ({})", known.join(" ")) };
    println!("cargo::rustc-env=BERTH_VERSION={shown}");
}

fn short(commit: &str) -> String {
    commit.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect()
}

/// Commit and its date in UTC; none in a debug build, outside a checkout, or where git is missing.
fn from_git() -> Option<(String, String)> {
    // "release" for every profile that inherits it.
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let manifest = env::var("CARGO_MANIFEST_DIR").ok()?;
    let top = Path::new(&manifest).parent()?.canonicalize().ok()?;
    // An unpacked archive inside somebody's own checkout has nothing to do with that checkout's commit.
    if Path::new(&git(&top, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != top {
        return None;
    }
    watch(&top);
    let line = git(&top, &["log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%d"])?;
    let (commit, date) = line.split_once(' ')?;
    Some((commit.to_owned(), date.to_owned()))
}

/// Names the files that change with the commit that is checked out. Only such as exist: cargo takes a missing one for changed.
fn watch(top: &Path) {
    let mut names = vec!["HEAD".to_owned(), "packed-refs".to_owned()];
    names.extend(git(top, &["symbolic-ref", "--quiet", "HEAD"]));
    for name in names {
        let Some(path) = git(top, &["rev-parse", "--git-path", &name]) else { continue };
        let path = top.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn git(top: &Path, arguments: &[&str]) -> Option<String> {
    output_of(Command::new("git").arg("-C").arg(top).args(arguments).env("TZ", "UTC"))
}

/// The day, in UTC, of a second since 1970.
fn date_of(epoch: &str) -> Option<String> {
    let moment = format!("@{}", epoch.trim().parse::<u64>().ok()?);
    output_of(Command::new("date").args(["-u", "-d", &moment, "+%Y-%m-%d"]))
}

fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
