//! Checks what a task runs.

use super::findings::Findings;
use super::http::http;
use super::text::{duration, put_once, without_nul};
use api_types::request::{self as body, Pairs};
use domain::task::{CommandRun, NoopRun, Run, check_argument, check_command_size, check_variable};
use runtime::config::LimitsConfig;
use std::collections::BTreeMap;
use std::time::Duration;

/// The one driver that is given, checked. `None` where it is missing.
pub(super) fn run(
    findings: &mut Findings,
    limits: &LimitsConfig,
    spec: Option<body::Run>,
) -> Option<Run> {
    let Some(spec) = spec else {
        findings.wrong("/run", "is required");
        return None;
    };
    match (spec.command, spec.noop, spec.http) {
        (Some(spec), None, None) => Some(Run::Command(command(findings, limits, spec))),
        (None, Some(spec), None) => Some(Run::Noop(noop(findings, limits, spec))),
        (None, None, Some(spec)) => Some(Run::Http(http(findings, limits, spec))),
        _ => {
            findings.wrong("/run", "must have exactly one of `command`, `http`, `noop`");
            None
        }
    }
}

fn command(findings: &mut Findings, limits: &LimitsConfig, spec: body::CommandRun) -> CommandRun {
    let argv = spec.argv.unwrap_or_default();
    if argv.is_empty() {
        findings.wrong("/run/command/argv", "must have at least the program");
    } else if argv.len() > limits.max_argv {
        findings
            .wrong("/run/command/argv", format!("must have {} entries or fewer", limits.max_argv));
    } else {
        for (at, argument) in argv.iter().enumerate() {
            if let Err(problem) = check_argument(at, argument) {
                findings.wrong(&format!("/run/command/argv/{at}"), problem.to_string());
            }
        }
    }
    if let Some(stdin) = &spec.stdin {
        without_nul(findings, "/run/command/stdin", stdin);
    }
    let env = environment(findings, limits, spec.env.unwrap_or_default());
    if let Err(problem) = check_command_size(&argv, &env) {
        findings.wrong("/run/command", problem.to_string());
    }
    CommandRun { argv, env, stdin: spec.stdin }
}

fn environment(
    findings: &mut Findings,
    limits: &LimitsConfig,
    pairs: Pairs,
) -> BTreeMap<String, String> {
    const AT: &str = "/run/command/env";
    let mut env = BTreeMap::new();
    if pairs.0.len() > limits.max_env_entries {
        findings.wrong(AT, format!("must have {} entries or fewer", limits.max_env_entries));
        return env;
    }
    for (name, value) in pairs.0 {
        if let Err(problem) = check_variable(&name, &value) {
            findings.wrong_entry(AT, &name, problem.to_string());
        } else if let Some((name, _)) = put_once(&mut env, name, value) {
            findings.wrong_entry(AT, &name, "is given twice");
        }
    }
    env
}

fn noop(findings: &mut Findings, limits: &LimitsConfig, spec: body::NoopRun) -> NoopRun {
    let range = Duration::ZERO..=limits.max_execution_cap;
    let sleep = duration(findings, "/run/noop/sleep", spec.sleep, range, Duration::ZERO);
    NoopRun { sleep }
}
