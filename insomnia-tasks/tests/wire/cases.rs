//! All cases of the file.

use insomnia_tasks::wire::{ErrorDetail, RefusedRole, ReplyHead, classify};

use super::expect::Case;

/// The cases with a reply.
pub(crate) fn cases() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/wire_cases.jsonl");
    let file = std::fs::read_to_string(path).unwrap();
    let cases = file.lines().map(|line| Case(serde_json::from_str(line).unwrap()));
    cases.filter(|case| case.body().is_some()).collect()
}

#[test]
fn every_case_is_read_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 100, "{}", cases.len());
    for case in &cases {
        case.check();
    }
}

#[test]
fn every_stream_is_read_the_same_however_it_is_cut() {
    for case in cases().iter().filter(|case| case.is_stream()) {
        let body = case.body().unwrap();
        let whole = format!("{:?}", case.read(&[body]));
        for cut in 0..=body.len() {
            let (start, end) = body.split_at(cut);
            assert_eq!(format!("{:?}", case.read(&[start, end])), whole, "{} cut at {cut}", case.id());
        }
        let bytes: Vec<_> = body.chunks(1).collect();
        assert_eq!(format!("{:?}", case.read(&bytes)), whole, "{} byte by byte", case.id());
    }
}

#[test]
fn every_refusal_of_a_place_is_recognised() {
    let role = |id: &str| match id {
        "Q02" => Some(RefusedRole::System),
        "Q06" => Some(RefusedRole::User),
        "Q07" | "Q09" => Some(RefusedRole::Unknown),
        "Q11" => Some(RefusedRole::Assistant),
        _ => None,
    };
    for case in cases().iter().filter(|case| case.status() >= 400) {
        let error = classify(&ReplyHead::new(case.status()), case.body().unwrap());
        let placement = match error.detail() {
            Some(ErrorDetail::Placement(role)) => Some(role),
            _ => None,
        };
        assert_eq!(placement, role(case.id()), "{}: {error}", case.id());
    }
}
