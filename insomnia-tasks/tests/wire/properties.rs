//! What holds for any bytes.

use insomnia_tasks::{
    tool::arguments::echo_arguments,
    wire::{ReplyHead, StreamReader, classify, parse_retry_after, read_reply},
};
use proptest::prelude::*;

use super::{
    cases::cases,
    expect::{Case, TOOLS},
};

/// Reads the bytes in every way; the answers are looked at, so that nothing of them is left unread.
fn read_all(bytes: &[u8], status: u16) {
    let head = ReplyHead::new(status);
    let mut reader = StreamReader::new(&TOOLS).with_max_bytes(4_096);
    reader.push(bytes);
    for read in [read_reply(&head, bytes, &TOOLS), reader.finish()] {
        match read {
            Ok(answer) => assert_eq!(answer.calls.len(), answer.message.tool_calls().len()),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
    assert!(!classify(&head, bytes).to_string().contains('\n'));
    let text = String::from_utf8_lossy(bytes);
    parse_retry_after(&text, None);
    assert!(echo_arguments(&text).starts_with('{'));
}

fn a_case() -> impl Strategy<Value = Vec<u8>> {
    let bodies: Vec<_> = cases().iter().map(|case| case.body().unwrap().to_vec()).collect();
    prop::sample::select(bodies)
}

fn a_stream() -> impl Strategy<Value = Vec<u8>> {
    let bodies: Vec<_> =
        cases().iter().filter(|case| case.is_stream()).map(|case| case.body().unwrap().to_vec()).collect();
    prop::sample::select(bodies)
}

/// A piece of a call with any of its fields absent, null, empty, new or repeated.
fn a_piece() -> impl Strategy<Value = String> {
    let index = prop::sample::select(vec!["", r#""index":null,"#, r#""index":0,"#, r#""index":1,"#, r#""index":7,"#]);
    let id = prop::sample::select(vec!["", r#""id":null,"#, r#""id":"","#, r#""id":"a","#, r#""id":"b","#]);
    let name = prop::sample::select(vec![
        "",
        r#""name":null,"#,
        r#""name":"","#,
        r#""name":"task_list","#,
        r#""name":"task","#,
        r#""name":"_list","#,
    ]);
    let arguments = prop::sample::select(vec![
        "null",
        r#""""#,
        r#""{}""#,
        r#""{\"n\":""#,
        r#""1}""#,
        r#""{\"n\":1}""#,
        r#"{"n":2}"#,
        r#""null""#,
    ]);
    (index, id, name, arguments).prop_map(|(index, id, name, arguments)| {
        format!(r#"{{{index}{id}"function":{{{name}"arguments":{arguments}}}}}"#)
    })
}

proptest! {
    #[test]
    fn any_pieces_of_calls_make_calls_that_can_be_sent_back(pieces in prop::collection::vec(a_piece(), 1..12)) {
        let mut reader = StreamReader::new(&TOOLS).with_max_bytes(4_096);
        for piece in &pieces {
            reader.push(format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}\n\n").as_bytes());
        }
        reader.push(b"data: [DONE]\n\n");
        if let Ok(answer) = reader.finish() {
            let calls = answer.message.tool_calls();
            prop_assert!(calls.len() == answer.calls.len() && calls.len() <= 2 * pieces.len());
            for call in calls {
                prop_assert!(serde_json::from_str::<serde_json::Map<_, _>>(&call.arguments).is_ok(), "{}", call.arguments);
            }
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), status in 100u16..600) {
        read_all(&bytes, status);
    }

    #[test]
    fn random_framing_never_panics(text in r#"(data:|event:|:|\n|\r|\{|\}|\[|\]|"|,|choices|delta|tool_calls|error|\\u|d83d|null|1){0,60}"#) {
        read_all(text.as_bytes(), 200);
    }

    #[test]
    fn mutated_cases_never_panic(
        mut bytes in a_case(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..8),
        status in prop::sample::select(vec![200u16, 400, 429, 500]),
    ) {
        for (at, byte, change) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        read_all(&bytes, status);
    }

    #[test]
    fn any_chunks_are_read_like_the_whole(bytes in a_stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(bytes.len());
        let mut start = 0;
        let chunks: Vec<_> = cuts.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect();
        let case = Case(serde_json::json!({"request_hint": {"stream": true}}));
        prop_assert_eq!(format!("{:?}", case.read(&chunks)), format!("{:?}", case.read(&[&bytes])));
    }
}
