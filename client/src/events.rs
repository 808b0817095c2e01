//! Parses server-sent events (WHATWG HTML).
//!
//! Used by `follow`. An event is complete at its blank line; an incomplete one is dropped.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// Its name; empty if none.
    pub name: String,
    /// Its id; that of the previous event if it has none.
    pub id: String,
    /// Its data, lines joined.
    pub data: String,
}

/// Larger than any event of the server; bounds memory for other streams.
const LONGEST: usize = 4 * 1024 * 1024;

/// The stream is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotEvents;

/// Bytes in, events out.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    buffer: Vec<u8>,
    event: Event,
    has_data: bool,
}

impl EventReader {
    /// Adds bytes; returns completed events in order.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, NotEvents> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut read = 0;
        while let Some(at) = self.buffer[read..].iter().position(|b| *b == b'\n') {
            let line = &self.buffer[read..read + at];
            let line = String::from_utf8(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
                .map_err(|_| NotEvents)?;
            read += at + 1;
            events.extend(self.line(&line));
        }
        self.buffer.drain(..read);
        if self.buffer.len() + self.event.data.len() > LONGEST {
            return Err(NotEvents);
        }
        Ok(events)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let complete = self.event.clone();
            (self.event.name, self.event.data) = (String::new(), String::new());
            return std::mem::take(&mut self.has_data).then_some(complete);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" => value.clone_into(&mut self.event.id),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            // Comments, `retry` and unknown fields.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_wherever_the_bytes_were_cut() {
        let text = "retry: 1000\n\nevent: output\nid: 1.1.0\ndata: {\"a\":1}\n\n: still here\n\nevent: end\r\nid: 1.2.0\r\ndata: x\r\ndata: y\r\n\r\n";
        let event = |name: &str, id: &str, data: &str| Event {
            name: name.to_owned(),
            id: id.to_owned(),
            data: data.to_owned(),
        };
        let expected = vec![event("output", "1.1.0", "{\"a\":1}"), event("end", "1.2.0", "x\ny")];
        for step in [1, 3, 7, text.len()] {
            let mut reader = EventReader::default();
            let events: Vec<Event> = text
                .as_bytes()
                .chunks(step)
                .flat_map(|piece| reader.push(piece).unwrap())
                .collect();
            assert_eq!(events, expected, "{step}");
        }
    }

    #[test]
    fn what_was_cut_does_not_count_and_what_never_ends_is_refused() {
        let mut reader = EventReader::default();
        assert!(reader.push(b"event: output\nid: 9\ndata: half").unwrap().is_empty());
        let mut reader = EventReader::default();
        assert_eq!(reader.push(&vec![b'x'; LONGEST + 1]), Err(NotEvents));
        assert_eq!(EventReader::default().push(b"\xff\n"), Err(NotEvents));
    }
}
