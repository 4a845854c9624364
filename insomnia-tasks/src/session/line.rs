//! Records as lines of JSON. Raw values are copied, never parsed and written anew.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::{RawValue, to_raw_value};

use super::record::{Entry, EntryBody, FORMAT, Header, RecordError};
use crate::{Item, ItemKind, wire::Usage};

/// The first and the last `seq` of the entries that were written together.
pub(super) type Batch = [u64; 2];

/// An entry as it was read, and the batch that it was written in; none where it was written alone.
pub(super) struct EntryLine {
    pub(super) entry: Entry,
    pub(super) batch: Option<Batch>,
    /// An item whose message is kept elsewhere, under this name. The entry is an unknown one until it is put in.
    pub(super) blob: Option<Blob>,
}

/// Where an item's message is.
pub(super) struct Blob {
    pub(super) kind: ItemKind,
    pub(super) name: String,
}

/// How every header begins; it tells a session's file from any other.
pub(super) const HEADER_START: &[u8] = br#"{"record":"header","format":"#;

/// Appends the header as one line, without a newline.
pub(super) fn write_header(header: &Header, out: &mut Vec<u8>) -> serde_json::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        record: &'a str,
        format: u32,
        #[serde(flatten)]
        header: &'a Header,
    }
    serde_json::to_writer(out, &Line { record: "header", format: FORMAT, header })
}

/// What the first line of a file turned out to be.
pub(super) enum HeaderLine {
    Header(Header),
    Newer(u32),
}

/// Reads the header's line.
pub(super) fn read_header(line: &[u8]) -> Result<HeaderLine, RecordError> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let Version { format } = parse(line)?;
    if format > FORMAT {
        return Ok(HeaderLine::Newer(format));
    }
    parse(line).map(HeaderLine::Header)
}

/// The fields of every kind of record. Only the envelope is typed, for a later version may mean other things by the rest.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    record: Cow<'a, str>,
    seq: u64,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(default)]
    time: u64,
    #[serde(default)]
    turn: u64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    message: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    blob: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    task: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    dialect: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    compact: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    rewind: Option<&'a RawValue>,
}

#[derive(Serialize, Deserialize)]
struct Rewind {
    to_seq: u64,
}

/// Appends an entry as one line, without a newline. With `blob`, an item's message is left out for this name of it.
pub(super) fn write_entry(
    entry: &Entry,
    blob: Option<&str>,
    batch: Option<Batch>,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let start = out.len();
    let mut line = Line {
        record: Cow::Borrowed(""),
        seq: entry.seq,
        id: Cow::Borrowed(&entry.id),
        time: entry.time,
        turn: entry.turn,
        kind: None,
        message: None,
        blob: None,
        usage: None,
        task: None,
        instructions: None,
        dialect: None,
        compact: None,
        rewind: None,
    };
    let typed = match &entry.body {
        EntryBody::Item(item) => to_raw_value(&item.kind())?,
        EntryBody::Instructions(text) => to_raw_value(text)?,
        EntryBody::Rewind { to_seq } => to_raw_value(&Rewind { to_seq: *to_seq })?,
        _ => RawValue::NULL.to_owned(),
    };
    let usage = entry.usage.as_deref().map(write_usage).transpose()?;
    match &entry.body {
        EntryBody::Item(item) => {
            line.usage = usage.as_deref();
            line.record = "item".into();
            line.kind = Some(&typed);
            line.blob = blob.map(Cow::Borrowed);
            line.message = blob.is_none().then_some(item.raw());
        }
        EntryBody::TaskEdit(task) => {
            line.record = "task_edit".into();
            line.task = Some(task);
        }
        EntryBody::Instructions(_) => {
            line.record = "instructions".into();
            line.instructions = Some(&typed);
        }
        EntryBody::Dialect(dialect) => {
            line.record = "dialect".into();
            line.dialect = Some(dialect);
        }
        EntryBody::Compact(compact) => {
            line.usage = usage.as_deref();
            line.record = "compact".into();
            line.compact = Some(compact);
        }
        EntryBody::Rewind { .. } => {
            line.record = "rewind".into();
            line.rewind = Some(&typed);
        }
        EntryBody::Unknown(_) => {}
    }
    match &entry.body {
        EntryBody::Unknown(whole) => out.extend_from_slice(whole.get().as_bytes()),
        _ => serde_json::to_writer(&mut *out, &line)?,
    }
    if let (Some([first, last]), Some(b'}')) = (batch, out.last()) {
        out.pop();
        out.extend_from_slice(format!(",{BATCH}{first},{last}]}}").as_bytes());
    }
    // a line break can only be whitespace between the tokens of a raw value: within strings JSON escapes it
    out[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    Ok(())
}

/// The batch is always the last field, so that it can be taken off a record that is otherwise unknown.
const BATCH: &str = "\"batch\":[";

/// Reads an entry's line.
///
/// # Errors
/// [`RecordError::Json`] means that the line is not whole, [`RecordError::Shape`] that it is whole but no entry.
pub(super) fn read_entry(line: &[u8]) -> Result<EntryLine, RecordError> {
    let fields: Line<'_> = parse(line)?;
    let batch = read_batch(line).filter(|[first, last]| (*first..=*last).contains(&fields.seq));
    let mut blob = None;
    let body = match fields.record.as_ref() {
        "header" => return Err(RecordError::Shape("a second header".to_owned())),
        "item" => match (read_kind(fields.kind)?, fields.message) {
            (Some(kind), Some(message)) if message.get().starts_with('{') => {
                EntryBody::Item(Item::from_stored(kind, Arc::from(message.to_owned())))
            }
            (Some(kind), None) if fields.blob.is_some() => {
                blob = fields.blob.map(|name| Blob { kind, name: name.into_owned() });
                unknown(line, batch)?
            }
            (Some(_), _) => return Err(missing("item", "message")),
            (None, _) => unknown(line, batch)?,
        },
        "task_edit" => EntryBody::TaskEdit(fields.task.ok_or_else(|| missing("task_edit", "task"))?.to_owned()),
        "instructions" => {
            let text = fields.instructions.and_then(|text| serde_json::from_str(text.get()).ok());
            EntryBody::Instructions(text.ok_or_else(|| missing("instructions", "instructions"))?)
        }
        "dialect" => EntryBody::Dialect(fields.dialect.unwrap_or(RawValue::NULL).to_owned()),
        "compact" => EntryBody::Compact(fields.compact.ok_or_else(|| missing("compact", "compact"))?.to_owned()),
        "rewind" => {
            let rewind = fields.rewind.and_then(|rewind| serde_json::from_str(rewind.get()).ok());
            let Rewind { to_seq } = rewind.ok_or_else(|| missing("rewind", "rewind"))?;
            EntryBody::Rewind { to_seq }
        }
        _ => unknown(line, batch)?,
    };
    let usage = fields.usage.and_then(|usage| serde_json::from_str(usage.get()).ok());
    let (seq, id, time, turn) = (fields.seq, fields.id.into_owned(), fields.time, fields.turn);
    Ok(EntryLine { entry: Entry { seq, id, time, turn, body, usage }, batch, blob })
}

/// Only what the server said.
fn write_usage(usage: &Usage) -> serde_json::Result<Box<RawValue>> {
    let mut fields: BTreeMap<String, Option<u64>> = serde_json::from_value(serde_json::to_value(usage)?)?;
    fields.retain(|_, tokens| tokens.is_some());
    to_raw_value(&fields)
}

/// A kind that this version does not know makes the whole record unknown.
fn read_kind(kind: Option<&RawValue>) -> Result<Option<ItemKind>, RecordError> {
    let kind = kind.ok_or_else(|| missing("item", "kind"))?;
    Ok(serde_json::from_str(kind.get()).ok())
}

fn unknown(line: &[u8], batch: Option<Batch>) -> Result<EntryBody, RecordError> {
    let whole: &RawValue = serde_json::from_slice(line).map_err(RecordError::Json)?;
    let own = batch.and_then(|[first, last]| whole.get().strip_suffix(&format!(",{BATCH}{first},{last}]}}")));
    let own = own.map_or_else(|| whole.get().to_owned(), |own| format!("{own}}}"));
    RawValue::from_string(own).map(EntryBody::Unknown).map_err(RecordError::Json)
}

fn read_batch(line: &[u8]) -> Option<Batch> {
    // two numbers of at most 20 digits
    let tail = &line[line.len().saturating_sub(BATCH.len() + 44)..];
    let tail = String::from_utf8_lossy(tail.trim_ascii_end());
    let (_, numbers) = tail.rsplit_once(BATCH)?;
    let (first, last) = numbers.strip_suffix("]}")?.split_once(',')?;
    Some([first.parse().ok().filter(|first| *first > 0)?, last.parse().ok()?])
}

fn missing(record: &str, field: &str) -> RecordError {
    RecordError::Shape(format!("`{record}` without a readable `{field}`"))
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, RecordError> {
    serde_json::from_slice(line).map_err(|error| match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => RecordError::Shape(error.to_string()),
        Err(broken) => RecordError::Json(broken),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(entry: &Entry, batch: Option<Batch>) -> String {
        let mut out = Vec::new();
        write_entry(entry, None, batch, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_item_has_this_form() {
        let item =
            Item::from_json(r#"{"role":"user","content":"\u00e9","n":1.0}"#).unwrap().with_kind(ItemKind::Notification);
        let entry = Entry { seq: 3, id: "a".into(), time: 5, turn: 2, body: EntryBody::Item(item), usage: None };
        let line = r#"{"record":"item","seq":3,"id":"a","time":5,"turn":2,"kind":"notification","message":{"role":"user","content":"\u00e9","n":1.0}}"#;
        assert_eq!(written(&entry, None), line);
        assert_eq!(written(&entry, Some([3, 4])), format!("{},\"batch\":[3,4]}}", &line[..line.len() - 1]));
        assert_eq!(written(&Entry::from_json(line).unwrap(), None), line);
    }

    #[test]
    fn an_answer_keeps_what_the_server_counted() {
        let line = r#"{"record":"item","seq":3,"id":"a","time":5,"turn":2,"kind":"assistant","message":{"role":"assistant"},"usage":{"completion_tokens":2,"prompt_tokens":7}}"#;
        let entry = Entry::from_json(line).unwrap();
        let usage = entry.usage.as_ref().unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (Some(7), Some(2), None));
        assert_eq!(written(&entry, None), line);
        for odd in ["7", "null", r#"{"prompt_tokens":"many"}"#] {
            let line = line.replace(r#"{"completion_tokens":2,"prompt_tokens":7}"#, odd);
            let entry = Entry::from_json(&line).unwrap();
            assert!(entry.usage.is_none() && matches!(entry.body, EntryBody::Item(_)), "{line}");
        }
    }

    #[test]
    fn so_does_a_compaction() {
        let line = r#"{"record":"compact","seq":9,"id":"a","time":5,"turn":2,"usage":{"prompt_tokens":7},"compact":{"base_seq":8}}"#;
        let entry = Entry::from_json(line).unwrap();
        assert_eq!(entry.usage.as_ref().unwrap().prompt_tokens, Some(7));
        assert_eq!(written(&entry, None), line);
    }

    #[test]
    fn what_is_no_item_has_these_forms() {
        for (body, rest) in [
            (r#""compact","seq":9"#, r#""compact":{"base_seq":8,"new":1.0}"#),
            (r#""rewind","seq":9"#, r#""rewind":{"to_seq":4}"#),
            (r#""task_edit","seq":9"#, r#""task":{"taskid":1}"#),
            (r#""instructions","seq":9"#, r#""instructions":"é""#),
            (r#""dialect","seq":9"#, r#""dialect":{"late_system":"user"}"#),
        ] {
            let line = format!(r#"{{"record":{body},"id":"a","time":5,"turn":2,{rest}}}"#);
            let entry = Entry::from_json(&line).unwrap();
            assert!(!matches!(entry.body, EntryBody::Unknown(_)), "{line}");
            assert_eq!(written(&entry, None), line);
        }
    }

    #[test]
    fn reads_the_batch_behind_any_text_and_from_nowhere_else() {
        for text in ["é", "\"batch\":[1,9]}", "\\\",\"batch\":[1,9]}"] {
            for length in 0..60 {
                let text = text.repeat(length);
                let entry = Entry::new(2, 1, EntryBody::Instructions(text.clone()));
                assert_eq!(read_entry(written(&entry, None).as_bytes()).unwrap().batch, None, "{text}");
                let line = written(&entry, Some([1, u64::MAX]));
                assert_eq!(read_entry(line.as_bytes()).unwrap().batch, Some([1, u64::MAX]), "{text}");
            }
        }
        for batch in ["[3,4]", "[0,4]", "[2,1]", "[2]", "7"] {
            let line = format!(r#"{{"record":"new","seq":2,"batch":{batch}}}"#);
            assert_eq!(read_entry(line.as_bytes()).unwrap().batch, None, "{batch}");
        }
    }

    #[test]
    fn an_unknown_record_stays_whole_and_leaves_its_batch() {
        let own = r#"{"record":"new","seq":2,"id":"i","kind":{},"task":[1, 2],"z":"\ud800"}"#;
        let read = read_entry(format!("{},\"batch\":[1,2]}}", &own[..own.len() - 1]).as_bytes()).unwrap();
        assert_eq!((read.entry.seq, read.entry.id.as_str(), read.batch), (2, "i", Some([1, 2])));
        assert_eq!(written(&read.entry, None), own);
        let kind = r#"{"record":"item","seq":2,"kind":"dream","message":{"role":"user"}}"#;
        assert_eq!(written(&Entry::from_json(kind).unwrap(), None), kind);
    }

    #[test]
    fn tells_a_torn_line_from_a_wrong_one() {
        for torn in ["", "{", "{\"record\":5,\"seq", "{\"record\":\"item\",\"seq\":1", "{\"record\":\"x\",\"seq\":1}\0"]
        {
            assert!(matches!(Entry::from_json(torn), Err(RecordError::Json(_))), "{torn}");
        }
        let wrong = [
            "7",
            "{}",
            r#"{"record":"item","seq":-1}"#,
            r#"{"record":"item","seq":1,"kind":"user"}"#,
            r#"{"record":"item","seq":1,"message":{}}"#,
            r#"{"record":"item","seq":1,"kind":"user","message":[]}"#,
            r#"{"record":"task_edit","seq":1}"#,
            r#"{"record":"instructions","seq":1,"instructions":7}"#,
            r#"{"record":"header","seq":1}"#,
            r#"{"record":"compact","seq":1}"#,
            r#"{"record":"rewind","seq":1,"rewind":{}}"#,
        ];
        for wrong in wrong {
            assert!(matches!(Entry::from_json(wrong), Err(RecordError::Shape(_))), "{wrong}");
        }
    }
}
