//! What the repository's pages say of files: every link between them leads somewhere.
#![allow(clippy::unwrap_used)] // helpers of tests, where these are the failure

use std::{
    fs,
    path::{Path, PathBuf},
};

use pulldown_cmark::{Event, Parser, Tag};

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        if kind.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            pages(&path, found);
        } else if kind.is_file() && name.ends_with(".md") {
            found.push(path);
        }
    }
}

fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => links.push(dest_url.to_string()),
            Event::Html(html) | Event::InlineHtml(html) => {
                let values = ["src=\"", "srcset=\"", "href=\""].iter().flat_map(|name| html.split(name).skip(1));
                links.extend(values.filter_map(|value| Some(value.split_once('"')?.0.to_owned())));
            }
            _ => {}
        }
    }
    links
}

/// Whether the page has a heading with this anchor.
fn has_heading(page: &str, anchor: &str) -> bool {
    let slug = |heading: &str| -> String {
        let kept = heading.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    page.lines().filter(|line| line.starts_with('#')).any(|line| slug(line.trim_start_matches('#')) == anchor)
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    pages(root, &mut found);
    assert!(found.len() > 10);
    let mut broken = Vec::new();
    for path in found {
        let page = fs::read_to_string(&path).unwrap();
        for link in links(&page) {
            // elsewhere, or an item of the code, which rustdoc checks
            if link.contains("://") || link.contains("::") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let there = anchor.is_empty() || fs::read_to_string(&target).is_ok_and(|page| has_heading(&page, anchor));
            if !target.exists() || !there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
