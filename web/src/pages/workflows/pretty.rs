//! JSON with a line for each value, its fields in the order in which they were written.
//!
//! The order of a definition's nodes is what its author chose, and a value that is read and written again loses it.

/// The text of a valid JSON document with line breaks and spaces; of anything else the same characters.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut chars = json.chars().filter_map(|c| {
        // Space outside of texts is made anew.
        let is_text = in_text;
        if is_text {
            (in_text, escaped) = (escaped || c != '"', !escaped && c == '\\');
        } else if c == '"' {
            (in_text, escaped) = (true, false);
        }
        (is_text || !c.is_ascii_whitespace()).then_some((c, is_text))
    });
    let mut next = chars.next();
    while let Some((c, is_text)) = next {
        next = chars.next();
        match c {
            _ if is_text => out.push(c),
            '{' | '[' => {
                out.push(c);
                if let Some((close @ ('}' | ']'), false)) = next {
                    out.push(close);
                    next = chars.next();
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => out.push(c),
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_texts_what_is_in_them() {
        let json = r#"{"z":[1, {"a" : "x {,: \" y\\"}],"b":{},"c":[ ]}"#;
        let wanted = "{\n  \"z\": [\n    1,\n    {\n      \"a\": \"x {,: \\\" y\\\\\"\n    }\n  ],\n  \"b\": {},\n  \"c\": []\n}";
        assert_eq!(pretty(json), wanted);
        assert_eq!(pretty(&pretty(json)), wanted, "what is pretty stays");
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(same(&pretty(json)), same(json));
    }
}
