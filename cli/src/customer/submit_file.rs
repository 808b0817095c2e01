//! `berth submit --file`: many tasks, one a line, as large as the file may be.
//!
//! The file goes out in parts that the server takes as one batch each; every part has a key made of the command's, so that the
//! same command with the same `--idempotency-key` goes on where it was cut. Ids go to standard output in order; what was
//! refused goes to standard error with its line.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Progress, cell};
use client::{BatchItem, IdempotencyKey, Problem};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};

/// Lines of one part: what the server takes at most.
const PART_LINES: usize = 10_000;
/// Bytes of one part, below what the server takes by default.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// What has become of the lines so far.
#[derive(Default)]
struct Count {
    stored: usize,
    refused: usize,
    /// Of how many tasks each thing is to be known, and of which line first.
    warned: BTreeMap<String, (usize, usize)>,
}

/// Submits each line of `file`; `-` is standard input.
pub(super) async fn run(
    connection: &Connection,
    file: &str,
    key: &IdempotencyKey,
) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::usage(format!("cannot read {file}: {error}"));
    let (mut lines, total): (Box<dyn BufRead + Send>, Option<usize>) = if file == "-" {
        (Box::new(BufReader::new(stdin())), None)
    } else {
        let open = || File::open(file).map(BufReader::new);
        let total = open().and_then(count).map_err(unreadable)?;
        (Box::new(open().map_err(unreadable)?), Some(total))
    };
    let (mut begun, mut counted, mut progress) =
        (0, Count::default(), Progress::new("stored", total));
    for part in 1.. {
        let (bytes, read) = next_part(&mut lines).map_err(unreadable)?;
        if bytes.is_empty() {
            break;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            begun += read;
            continue;
        }
        let sent = submit_part(
            connection,
            bytes,
            &part_key(key, part)?,
            begun,
            (&mut counted, &mut progress),
        )
        .await;
        if let Err(failure) = sent {
            progress.clear();
            let Count { stored, refused, .. } = counted;
            return Err(failure.adding(&format!(
                "\n{stored} tasks are stored for certain, {refused} were refused. To go on safely, repeat the command with \
                 --idempotency-key {key}"
            )));
        }
        begun += read;
    }
    progress.clear();
    let Count { stored, refused, warned } = counted;
    for (detail, (tasks, line)) in &warned {
        let detail = cell::plain(detail);
        output::remark(&format!(
            "berth: warning: {tasks} tasks, the first in line {line}: {detail}"
        ));
    }
    output::remark(&format!("{stored} stored, {refused} refused."));
    if refused > 0 {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "{refused} lines were refused; fix them and submit only those: the others are stored"
            ),
        ));
    }
    if stored == 0 {
        return Err(Failure::usage(format!("{file} has no line with a task")));
    }
    Ok(())
}

/// Sends one part, whose first line is line number `begun` (from 0) of the file.
async fn submit_part(
    connection: &Connection,
    bytes: Vec<u8>,
    key: &IdempotencyKey,
    begun: usize,
    (counted, progress): (&mut Count, &mut Progress),
) -> Result<(), Failure> {
    let format = connection.format;
    let mut unwritable: Option<Failure> = None;
    let print_item = |item: BatchItem| {
        let line = begun + item.index + 1;
        let written = match (&item.task, &item.error) {
            (Some(task), _) => {
                counted.stored += 1;
                for warning in item.warnings {
                    counted.warned.entry(warning.detail).or_insert((0, line)).0 += 1;
                }
                match format {
                    Format::Json => output::line(
                        &json!({"line": line, "task": {"id": task.id(), "existing": task.is_existing()}}).to_string(),
                    ),
                    Format::Table => output::line(&task.id().to_string()),
                }
            }
            (None, error) => {
                counted.refused += 1;
                progress.clear();
                error.iter().for_each(|error| refused(line, error));
                Ok(())
            }
        };
        progress.show(counted.stored, counted.refused);
        if let Err(failure) = written {
            unwritable.get_or_insert(failure);
        }
    };
    let summary = connection.client.submit_ndjson(bytes, key.clone(), print_item).await;
    match unwritable {
        // Whoever read the ids has seen enough; the rest of the file is still to be stored.
        Some(failure) if failure.is_reader_gone() => {}
        Some(failure) => return Err(failure),
        None => {}
    }
    match summary.map_err(|error| failure(&error))?.error {
        None => Ok(()),
        Some(error) => Err(failure(&client::ClientError::Api(Box::new((*error).into())))),
    }
}

fn refused(line: usize, error: &Problem) {
    if error.errors.is_empty() {
        output::remark(&format!("line {line}: {}", cell::plain(&error.detail)));
    }
    for place in &error.errors {
        let pointer = if place.pointer.is_empty() { "the task" } else { &place.pointer };
        output::remark(&format!(
            "line {line}: {}: {}",
            cell::plain(pointer),
            cell::plain(&place.detail)
        ));
    }
}

/// Bytes of the next part, and how many lines they are.
fn next_part(lines: &mut impl BufRead) -> std::io::Result<(Vec<u8>, usize)> {
    let (mut part, mut count) = (Vec::new(), 0);
    while count < PART_LINES && part.len() < PART_BYTES {
        if lines.read_until(b'\n', &mut part)? == 0 {
            break;
        }
        count += 1;
    }
    Ok((part, count))
}

fn count(mut lines: impl BufRead) -> std::io::Result<usize> {
    let (mut count, mut line) = (0, Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        count += usize::from(!line.iter().all(u8::is_ascii_whitespace));
        line.clear();
    }
    Ok(count)
}

fn part_key(key: &IdempotencyKey, part: u32) -> Result<IdempotencyKey, Failure> {
    let own = if part == 1 { key.to_string() } else { format!("{key}.{part}") };
    own.parse().map_err(|_| {
        Failure::usage("--idempotency-key is too long for this file; use at most 190 characters")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_at_lines_into_parts_that_the_server_takes() {
        let text = "{}\n".repeat(PART_LINES + 2) + "last";
        let mut lines = text.as_bytes();
        let parts: Vec<(usize, usize)> = std::iter::from_fn(|| {
            let (bytes, count) = next_part(&mut lines).unwrap();
            (!bytes.is_empty()).then_some((bytes.len(), count))
        })
        .collect();
        assert_eq!(parts, [(3 * PART_LINES, PART_LINES), (10, 3)]);
        let long = format!("{}\n", "x".repeat(1024 * 1024)).repeat(20);
        let (bytes, count) = next_part(&mut long.as_bytes()).unwrap();
        assert!(bytes.len() < PART_BYTES + 2 * 1024 * 1024 && count < 10);
    }

    #[test]
    fn each_part_has_a_key_of_its_own_that_follows_from_the_commands() {
        let key: IdempotencyKey = "mine".parse().unwrap();
        let keys: Vec<String> =
            (1..4).map(|part| part_key(&key, part).unwrap().to_string()).collect();
        assert_eq!(keys, ["mine", "mine.2", "mine.3"]);
    }
}
