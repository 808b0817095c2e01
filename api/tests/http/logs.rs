//! Output: pages of chunks, and the bytes themselves.

use crate::server::Server;
use std::fmt::Write;

/// Stores chunks as (attempt, stream, seq, bytes).
async fn store(server: &Server, id: &str, chunks: &[(u32, u8, u32, Vec<u8>)]) {
    let hex = id.trim_start_matches("task_");
    let mut sql = String::new();
    for (attempt, stream, seq, data) in chunks {
        let bytes: String = data.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        write!(
            sql,
            "insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
             values ('{}', '{hex}', {attempt}, {stream}, {seq}, 0, decode('{bytes}', 'hex'));",
            server.tenant.uuid()
        )
        .unwrap();
    }
    server.db.sql(&sql).await.unwrap();
}

#[tokio::test]
async fn output_is_shown_as_text_or_base64_and_raw_as_it_was() {
    let server = Server::start().await;
    let id = server.noop().await;
    let logs = format!("/v1/tasks/{id}/logs");
    assert_eq!(
        server.get(&logs).await.json(),
        serde_json::json!({"data": [], "next_cursor": null})
    );
    assert_eq!(server.get(&format!("{logs}?format=raw")).await.body, b"");
    let binary = vec![0xff, 0x00, 0xfe];
    let html = b"<script>alert(1)</script>".to_vec();
    let chunks = [
        (1, 1, 0, html.clone()),
        (1, 1, 1, binary.clone()),
        (1, 2, 2, b"err".to_vec()),
        (2, 1, 0, "grün\n".as_bytes().to_vec()),
    ];
    store(&server, &id, &chunks).await;
    let shown = server.get(&logs).await.json();
    let rows = shown["data"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["text"], "<script>alert(1)</script>");
    assert_eq!((rows[1]["base64"].as_str(), rows[1].get("text")), (Some("/wD+"), None));
    assert_eq!(
        (rows[2]["stream"].as_str(), rows[3]["attempt"].as_u64()),
        (Some("stderr"), Some(2))
    );

    for (query, expected) in [
        ("format=raw", [html.as_slice(), &binary, b"err", "grün\n".as_bytes()].concat()),
        ("format=raw&stream=stderr", b"err".to_vec()),
        ("format=raw&attempt=2", "grün\n".as_bytes().to_vec()),
        ("format=raw&attempt=1&stream=stdout", [html.as_slice(), &binary].concat()),
        ("format=raw&attempt=7", Vec::new()),
    ] {
        let raw = server.get(&format!("{logs}?{query}")).await;
        assert_eq!(
            (raw.status, raw.header("content-type")),
            (200, Some("application/octet-stream"))
        );
        assert_eq!(raw.body, expected, "{query}");
    }
    let stderr = server.get(&format!("{logs}?stream=stderr")).await.json();
    assert_eq!(stderr["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn output_is_in_the_order_of_reading_and_begins_where_it_is_asked_to_in_each_form() {
    let server = Server::start().await;
    let id = server.noop().await;
    let logs = format!("/v1/tasks/{id}/logs");
    let piece = |attempt, stream, seq, text: &str| (attempt, stream, seq, text.as_bytes().to_vec());
    let chunks = [
        piece(1, 1, 0, "first try\n"),
        piece(2, 2, 0, "e1\n"),
        piece(2, 1, 1, "o1\no2"),
        piece(2, 2, 2, "e2\n"),
        piece(2, 1, 3, "\no3\n"),
    ];
    store(&server, &id, &chunks).await;
    let old = "update task_output set stored_at = stored_at - interval '2 hours' where attempt = 1 or seq < 2";
    server.db.sql(old).await.unwrap();
    let text = |chunk: &serde_json::Value| chunk["text"].as_str().unwrap().to_owned();
    for (query, wanted) in [
        ("", "first try\ne1\no1\no2e2\n\no3\n"),
        ("tail=2", "o2\no3\n"),
        ("tail=3", "o2e2\n\no3\n"),
        ("tail=2&stream=stdout", "o2\no3\n"),
        ("tail=1&stream=stderr", "e2\n"),
        ("tail=0", ""),
        ("tail=10000", "first try\ne1\no1\no2e2\n\no3\n"),
        ("tail=1&attempt=1", "first try\n"),
        ("since=1h", "e2\n\no3\n"),
        ("since=3h&attempt=2", "e1\no1\no2e2\n\no3\n"),
        ("since=1h&tail=1", "o3\n"),
        ("since=2199-01-01T00:00:00Z", ""),
        ("since=1970-01-02T00:00:00Z&stream=stderr", "e1\ne2\n"),
    ] {
        // One chunk a page: a cursor goes on from its place, whatever the query asks to begin with.
        let (mut paged, mut cursor) = (String::new(), String::new());
        loop {
            let page = server.get(&format!("{logs}?limit=1&{query}{cursor}")).await.json();
            paged.extend(page["data"].as_array().unwrap().iter().map(text));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(paged, wanted, "{query}");
        let raw = server.get(&format!("{logs}?format=raw&{query}")).await;
        assert_eq!(String::from_utf8(raw.body).unwrap(), wanted, "{query}");
    }
    let shown = server.get(&format!("{logs}?tail=1&stream=stdout")).await.json();
    assert_eq!(
        (shown["data"][0]["offset"].as_u64(), shown["data"][0]["seq"].as_u64()),
        (Some(1), Some(3))
    );
}

#[tokio::test]
async fn large_output_comes_in_bounded_pages_and_raw_as_a_whole() {
    let server = Server::start().await;
    let id = server.noop().await;
    let piece = |n: u32| vec![b'a' + (n % 26) as u8; 65_536];
    let sql = format!(
        "insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
         select '{}', '{}'::uuid, 1, 1, n, n * 65536, decode(repeat(to_hex(97 + n % 26), 65536), 'hex')
         from generate_series(0, 39) n",
        server.tenant.uuid(),
        id.trim_start_matches("task_")
    );
    server.db.sql(&sql).await.unwrap();
    let (mut seqs, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = server.get(&format!("/v1/tasks/{id}/logs?limit=200{cursor}")).await;
        assert!(answer.body.len() < 1_300_000, "{}", answer.body.len());
        let page = answer.json();
        seqs.extend(
            page["data"].as_array().unwrap().iter().map(|chunk| chunk["seq"].as_u64().unwrap()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seqs, (0..40).collect::<Vec<u64>>());
    let raw = server.get(&format!("/v1/tasks/{id}/logs?format=raw")).await;
    let whole: Vec<u8> = (0..40).flat_map(piece).collect();
    assert!(raw.body == whole, "{} bytes of {}", raw.body.len(), whole.len());
    let other = server.get(&format!("/v1/tasks/{id}/logs?stream=stdout{cursor}")).await;
    assert_eq!(other.code(), "invalid_cursor");
}
