//! A script of this machine, sent with the task and run by its interpreter on the executor.
//!
//! Executors do not have the files of whoever submits. So `berth submit -- ./job.sh` sends the file: a path that begins with `./` or `../`
//! names a file of this machine and can name none of an executor, where each attempt begins in a new, empty folder. Any other path
//! (`/opt/job`, `job` of the PATH) may be there, so it is sent only with `--script`. The task gets the file's content as an argument,
//! writes it into its folder, and runs it by the interpreter of its first line: the task's standard input stays free.

use crate::failure::Failure;
use crate::output::{self, cell};
use std::path::Path;

/// What writes the script into the attempt's folder and becomes it: `sh -c RUNNER NAME CONTENT INTERPRETER... NAME ARGUMENTS...`.
const RUNNER: &str = r#"printf %s "$1" >"$0" && shift && exec "$@""#;
/// Longest script, bytes: Linux takes 128 KiB in one argument, its end included.
const MOST: usize = 128 * 1024 - 1;
/// What runs a script that does not say.
const USUAL: &str = "/bin/sh";

/// The command to submit for `command`: itself, or a script of this machine with its arguments.
pub(super) fn sent(command: Vec<String>, script: Option<&str>) -> Result<Vec<String>, Failure> {
    if let Some(path) = script {
        return send(path, &command);
    }
    let Some((program, arguments)) = command.split_first() else { return Ok(command) };
    if is_of_this_machine(program) {
        if Path::new(program).is_file() {
            return send(program, arguments);
        }
        return Err(Failure::usage(format!(
            "there is no file {program} on this machine, and an attempt begins in a folder of its own where there is none either. Give the \
             path of a script here, or a program that the executors have"
        )));
    }
    hint(program, arguments);
    Ok(command)
}

/// A path that means nothing on another machine.
fn is_of_this_machine(path: &str) -> bool {
    path.starts_with("./") || path.starts_with("../")
}

fn send(path: &str, arguments: &[String]) -> Result<Vec<String>, Failure> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read the script {path}: {error}")))?;
    let argv = wrapped(path, bytes, arguments)?;
    // The interpreter is what stands between the content and the name.
    let name = &argv[3];
    let interpreter = argv[5..].iter().take_while(|word| *word != name);
    let interpreter = interpreter.map(String::as_str).collect::<Vec<_>>().join(" ");
    output::remark(&format!(
        "berth: {path} ({} bytes) is sent with the task, to be run by {interpreter} on the executor",
        argv[4].len()
    ));
    Ok(argv)
}

/// The command that runs a script of this content there.
fn wrapped(path: &str, bytes: Vec<u8>, arguments: &[String]) -> Result<Vec<String>, Failure> {
    let size = bytes.len();
    if size > MOST {
        return Err(Failure::usage(format!(
            "the script {path} has {size} bytes; a script that is sent with a task may have {MOST}. Put it where executors can fetch it"
        )));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| {
        Failure::usage(format!(
            "{path} is a program and no script: only text is sent with a task. Put it on the executors, and give its path there"
        ))
    })?;
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or("script");
    let name = format!("./{name}");
    let mut argv = vec![USUAL.to_owned(), "-c".to_owned(), RUNNER.to_owned(), name.clone()];
    let interpreter = interpreter(&text);
    argv.push(text);
    argv.extend(interpreter);
    argv.push(name);
    argv.extend_from_slice(arguments);
    Ok(argv)
}

/// The interpreter of the first line and its one argument, as Linux reads it; a shell where there is none, as a shell does.
fn interpreter(text: &str) -> Vec<String> {
    let line =
        text.strip_prefix("#!").and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    if line.is_empty() {
        return vec![USUAL.to_owned()];
    }
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim();
    let words = [program, argument].into_iter().filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Says where a command names files of this machine that executors do not have.
fn hint(program: &str, arguments: &[String]) {
    if !program.contains('/') && Path::new(program).is_file() {
        output::remark(&format!(
            "berth: {program} is looked for in the executor's PATH; to send the file of this folder, write ./{program}"
        ));
    }
    let here = |path: &&String| is_of_this_machine(path) && Path::new(path.as_str()).is_file();
    if let Some(path) = arguments.iter().find(here) {
        output::remark(&format!(
            "berth: {path} is a file of this machine, which executors do not have; a script is sent with --script {path}"
        ));
    }
}

/// A sent script with its arguments as its owner typed it; `None` for any other command.
pub(super) fn typed(argv: &[&str]) -> Option<String> {
    let [_, "-c", RUNNER, name, content, rest @ ..] = argv else { return None };
    let at = rest.iter().position(|word| word == name)?;
    let words = rest[at..].iter().map(|word| cell::word(word));
    let words = words.collect::<Vec<_>>().join(" ");
    let interpreter = rest[..at].join(" ");
    Some(format!(
        "{words} (a script of {} bytes, run by {})",
        content.len(),
        cell::plain(&interpreter)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn wrap(text: &str, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        wrapped("../jobs/my job.sh", text.as_bytes().to_vec(), &arguments).unwrap()
    }

    #[test]
    fn a_script_runs_by_its_interpreter_with_its_arguments_and_a_free_input() {
        let folder = tempfile::tempdir().unwrap();
        for (script, wanted) in [
            ("#!/bin/bash\n[[ 1 ]] && echo \"$0|$1|$2|$(cat)\"", "./my job.sh|a b||in\n"),
            ("#! /usr/bin/env -S bash -e \nfalse\necho never", ""),
            ("echo \"$1|$(cat)\"\n", "a b|in\n"),
            ("#!/bin/cat\nas it is: %s $1 \\n", "#!/bin/cat\nas it is: %s $1 \\n"),
        ] {
            let arguments: &[&str] = if script.contains("/bin/cat\n") { &[] } else { &["a b", ""] };
            let argv = wrap(script, arguments);
            std::fs::write(folder.path().join("in"), "in").unwrap();
            let input = std::fs::File::open(folder.path().join("in")).unwrap();
            let mut command = Command::new(&argv[0]);
            let ran = command.args(&argv[1..]).current_dir(folder.path()).stdin(input).output();
            assert_eq!(String::from_utf8(ran.unwrap().stdout).unwrap(), wanted, "{script}");
        }
    }

    #[test]
    fn a_sent_script_is_shown_as_it_was_typed() {
        let argv = wrap("#!/usr/bin/env python3\nprint(1)", &["a b", "-x"]);
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        assert_eq!(
            typed(&words).unwrap(),
            "'./my job.sh' 'a b' -x (a script of 31 bytes, run by /usr/bin/env python3)"
        );
        assert_eq!(typed(&["bash", "-c", "echo hi"]), None);
    }

    #[test]
    fn what_is_no_script_or_too_long_is_refused_before_it_is_sent() {
        for bytes in [b"\x7fELF\0\x01".to_vec(), vec![0xff, 0xfe], vec![b'x'; MOST + 1]] {
            assert!(wrapped("./a", bytes, &[]).is_err());
        }
        assert!(wrapped("./a", vec![b'x'; MOST], &[]).is_ok());
        let missing = sent(vec!["./none-of-this-name".to_owned()], None).unwrap_err().to_string();
        assert!(missing.contains("no file ./none-of-this-name"), "{missing}");
    }

    #[test]
    fn only_a_path_that_means_nothing_elsewhere_is_sent_by_itself() {
        for command in [vec!["/bin/sh".to_owned()], vec!["bash".to_owned(), "-c".to_owned()]] {
            assert_eq!(sent(command.clone(), None).unwrap(), command);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "echo hi").unwrap();
        let path = path.to_str().unwrap().to_owned();
        assert_eq!(sent(vec![path.clone()], None).unwrap(), std::slice::from_ref(&path));
        let argv = sent(vec!["x".to_owned()], Some(&path)).unwrap();
        assert_eq!(argv[3..], ["./a", "echo hi", "/bin/sh", "./a", "x"]);
    }
}
