//! What a task wrote: the last lines, with their colours; or the lines that have a text.

use crate::ansi::{Look, markup, runs};
use crate::fault::Fault;
use crate::form::with_query;
use crate::svg::Escaped;
use crate::visit::{Visit, in_path};
use api_types::{LogChunk, Page, Stream};
use askama::Template;
use std::fmt::Write;

/// Lines that are shown.
const LINES: &str = "500";
/// The same where they are searched.
const SEARCHED: &str = "10000";
/// Pages of chunks that are read at most: 200 chunks each.
const PAGES: usize = 5;

#[derive(Template)]
#[template(path = "tasks/output.html")]
pub(crate) struct Output {
    pub id: String,
    html: String,
    find: String,
    lines: usize,
    /// There is more than is shown.
    is_cut: bool,
    pub is_over: bool,
}

/// Reads it.
pub(crate) async fn read(visit: &Visit, id: &str, is_over: bool) -> Result<Output, Fault> {
    let find = visit.query.text("find").to_owned();
    let tail = if find.is_empty() { LINES } else { SEARCHED };
    let mut chunks = Vec::new();
    let mut cursor = String::new();
    let mut is_cut = false;
    for page in 1..=PAGES {
        let more = [("tail", tail), ("limit", "200"), ("cursor", cursor.as_str())];
        let query = visit.query.query(&["attempt", "stream"], &more);
        let target = with_query(&format!("/v1/tasks/{}/logs", in_path(id)), &query);
        let read: Page<LogChunk> = visit.get(target).await?;
        chunks.extend(read.data);
        let Some(next) = read.next_cursor else { break };
        cursor = next.to_string();
        is_cut = page == PAGES;
    }
    let (html, lines) = if find.is_empty() { whole(&chunks) } else { found(&chunks, &find) };
    Ok(Output { id: id.to_owned(), html, find, lines, is_cut, is_over })
}

fn is_error(chunk: &LogChunk) -> bool {
    chunk.stream == Stream::Stderr
}

/// Each stream's look, side by side: one does not colour the other.
#[derive(Default)]
struct Looks {
    out: Look,
    err: Look,
}

impl Looks {
    const fn of(&mut self, is_error: bool) -> &mut Look {
        if is_error { &mut self.err } else { &mut self.out }
    }
}

fn whole(chunks: &[LogChunk]) -> (String, usize) {
    let (mut html, mut looks, mut lines) = (String::new(), Looks::default(), 0);
    let mut attempt = chunks.first().map_or(1, |chunk| chunk.attempt);
    for chunk in chunks {
        if chunk.attempt != attempt {
            attempt = chunk.attempt;
            looks = Looks::default();
            let _ = write!(html, "\n<span class=\"d\">— attempt {attempt} —</span>\n");
        }
        let text = String::from_utf8_lossy(&chunk.data);
        lines += text.matches('\n').count();
        if is_error(chunk) {
            html.push_str(r#"<span class="err">"#);
        }
        markup(&text, looks.of(is_error(chunk)), &mut html);
        if is_error(chunk) {
            html.push_str("</span>");
        }
    }
    (html, lines)
}

/// The lines that have `find`, whatever the case, without their colours.
fn found(chunks: &[LogChunk], find: &str) -> (String, usize) {
    let mut texts = [String::new(), String::new()];
    for chunk in chunks {
        let [out, err] = &mut texts;
        let to = if is_error(chunk) { err } else { out };
        runs(&String::from_utf8_lossy(&chunk.data), &mut Look::default(), |text, _| {
            to.push_str(text)
        });
    }
    let (mut html, mut lines) = (String::new(), 0);
    let wanted = find.to_lowercase();
    for line in texts.iter().flat_map(|text| text.lines()) {
        if line.to_lowercase().contains(&wanted) {
            lines += 1;
            let shown: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
            let _ = writeln!(html, "{}", Escaped(&shown));
        }
    }
    (html, lines)
}

impl Output {
    /// Whether there is nothing to show.
    const fn is_empty(&self) -> bool {
        self.html.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api_types::Extensible;

    fn chunk(stream: Stream, text: &str) -> LogChunk {
        let at = "2030-01-31T12:00:00Z".parse().unwrap();
        let stream = Extensible::Known(stream);
        LogChunk { attempt: 1, stream, seq: 0, offset: 0, at, data: text.as_bytes().to_vec() }
    }

    #[test]
    fn both_streams_have_their_own_colours_and_nothing_of_them_is_markup() {
        let chunks = [
            chunk(Stream::Stdout, "\x1b[32m<b>"),
            chunk(Stream::Stderr, "oh\n"),
            chunk(Stream::Stdout, "on\n"),
        ];
        let (html, lines) = whole(&chunks);
        assert_eq!(
            html,
            "<span class=\"f2\">&lt;b&gt;</span><span class=\"err\">oh\n</span><span class=\"f2\">on\n</span>"
        );
        assert_eq!(lines, 2);
    }

    #[test]
    fn a_search_finds_lines_over_chunks_and_colours() {
        let chunks =
            [chunk(Stream::Stdout, "one err"), chunk(Stream::Stdout, "\x1b[31mOR<x>\ntwo\n")];
        assert_eq!(found(&chunks, "error"), ("one errOR&lt;x&gt;\n".to_owned(), 1));
        assert_eq!(found(&chunks, "nothing"), (String::new(), 0));
    }
}
