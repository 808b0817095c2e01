//! Texts that are commands, escapes or paths to somebody: here they are only texts.

use crate::agent::{Agent, Home};
use crate::rm::{Rm, outcome};
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

/// 200 of them, all different, none with a NUL.
fn hostile() -> Vec<String> {
    let seeds = [
        "$(touch /tmp/berth-owned)",
        "`touch /tmp/berth-owned`",
        "; touch /tmp/berth-owned;",
        "| touch /tmp/berth-owned",
        "&& touch /tmp/berth-owned",
        "../../../tmp/berth-owned",
        "..",
        "/etc/passwd",
        "-rf",
        "--",
        "--bind",
        "--unshare-all",
        "-c",
        "*",
        "~",
        "$HOME",
        "${IFS}",
        "%s%n%x",
        "\u{1b}[31mred\u{1b}[0m",
        "\u{1b}]0;title\u{7}",
        "\r\nInjected: yes",
        "line\nbreak",
        "\t",
        " ",
        "'",
        "\"",
        "\\",
        "\\n",
        "\u{202e}abc",
        "\u{0}",
    ];
    let plain = seeds.iter().filter(|seed| !seed.contains('\0'));
    let rounds = (0..7).flat_map(|round| {
        plain.clone().map(move |seed| match round {
            0 => (*seed).to_owned(),
            1 => format!("{seed}{seed}"),
            2 => format!("a{seed}"),
            3 => format!("{seed}z"),
            4 => format!("\n{seed}"),
            5 => format!("{seed}\u{1b}[2J"),
            _ => format!("{seed} é 漢 🦀 {}", "x".repeat(2000)),
        })
    });
    rounds.take(200).collect()
}

/// Whatever lies beside the data folder.
fn surroundings(home: &Home) -> Vec<String> {
    let names =
        fs::read_dir(home.path()).unwrap().chain(fs::read_dir(home.path().join("data")).unwrap());
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

in_both_modes! { hostile_texts_are_only_texts }

async fn hostile_texts_are_only_texts(isolation: &str) {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let before = surroundings(&home);
    let texts = hostile();
    assert_eq!(texts.len(), 200);
    // As arguments, exactly as they are, and as environment.
    let mut argv = vec!["bash".to_owned(), "-c".to_owned(), SHOW.to_owned(), "name".to_owned()];
    argv.extend(texts.iter().cloned());
    let env: BTreeMap<String, String> =
        texts.iter().enumerate().map(|(i, text)| (format!("V{i}"), text.clone())).collect();
    let lease = rm.assign(&json!({"command": {"argv": argv, "env": env}}).to_string());
    let result = rm.result(lease).await;
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}", result.reason);
    let wanted: String = texts.iter().map(|text| format!("{text}\0{text}\0")).collect();
    assert!(rm.output_text(lease, Stream::Stdout) == wanted, "an argument was changed");
    // As names of programs and of variables, and with a NUL: refused or not found, never run by a shell.
    for text in texts.iter().step_by(7).chain([&"a\0b".to_owned()]) {
        let lease = rm.assign(&json!({"command": {"argv": [text]}}).to_string());
        let result = rm.result(lease).await;
        assert_eq!(outcome(&result), Outcome::Failed, "{text:?}: {}", result.reason);
        assert!(!result.reason.chars().any(char::is_control), "{:?}", result.reason);
    }
    assert_eq!(surroundings(&home), before);
    assert!(!fs::exists("/tmp/berth-owned").unwrap());
    let strange = |c: char| c.is_control() && c != '\n';
    let log = agent.log();
    assert!(!log.contains(strange) && !log.contains("Injected"), "{log}");
}

/// Writes each argument and the variable of the same number, and makes a file of each that can name one.
const SHOW: &str = r#"i=0; for text; do v=V$i; printf '%s\0%s\0' "$text" "${!v}"; case "$text" in */*|.|..|'') ;; *) [ ${#text} -gt 200 ] || : > "./$text" || exit 9;; esac; i=$((i+1)); done"#;
