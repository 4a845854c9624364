//! What a reader does with too much, and with much.

use insomnia_tasks::wire::{ModelErrorKind, Progress, StreamReader};
use serde_json::json;

use super::{
    expect::TOOLS,
    streams::{calls, check, event, stream},
};

#[test]
fn too_much_is_an_error_before_it_is_memory() {
    let text = event(&json!({"choices": [{"delta": {"content": "0123456789"}}]}));
    let others = event(&json!({"choices": [{"delta": {"x": ["0123456789"]}}]}));
    let arguments = event(
        &json!({"choices": [{"delta": calls(json!([{"index": 0, "function": {"name": "x", "arguments": "0123456789"}}]))}]}),
    );
    for flood in [text, others, arguments, "x".to_owned(), "{".to_owned(), "data: x\n".to_owned()] {
        let mut reader = StreamReader::new(&[]).with_max_bytes(10_000);
        let mut pushed = 0;
        while reader.progress() == Progress::Open {
            reader.push(flood.as_bytes());
            pushed += flood.len();
            assert!(pushed < 300_000, "{flood}");
        }
        let error = reader.finish().unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Malformed);
        assert!(error.message().contains("10000 bytes"), "{error}");
    }
    let many: Vec<_> =
        (0..2_000).map(|n| json!({"index": n, "id": n.to_string(), "function": {"name": "x"}})).collect();
    check("2,000 calls", stream(&[calls(json!(many))], "stop"), json!({"error_class": "malformed"}));
}

#[test]
fn a_megabyte_in_small_pieces_is_read_in_linear_time() {
    let piece = |arguments: &str| {
        let call = json!({"index": 0, "id": "a", "function": {"name": "task_create", "arguments": arguments}});
        event(&json!({"choices": [{"delta": calls(json!([call]))}]}))
    };
    let text = piece("xxxxxxx");
    let mut reader = StreamReader::new(&TOOLS);
    reader.push(piece("{\"text\":\"").as_bytes());
    for _ in 0..150_000 {
        reader.push(text.as_bytes());
    }
    reader.push(piece("\"}").as_bytes());
    reader.push(b"data: [DONE]\n\n");
    let want = format!("{{\"text\":\"{}\"}}", "xxxxxxx".repeat(150_000));
    assert_eq!(reader.finish().unwrap().calls[0].arguments.as_deref(), Ok(want.as_str()));
}
