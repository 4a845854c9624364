//! What the derives expand to, beside their input in `tests/expand`: `NAME.rs` becomes `NAME.expanded.rs`. With
//! `UPDATE_SNAPSHOTS=1` the tests write it anew.

use std::{env, fs, path::Path};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{DeriveInput, File, Item};

/// The expansions of all items of a source text, in the form of rustfmt.
fn expanded(source: &str) -> String {
    let file: File = syn::parse_str(source).unwrap();
    let derived: TokenStream = file.items.iter().map(derived).collect();
    prettyplease::unparse(&syn::parse2(derived).unwrap())
}

fn derived(item: &Item) -> TokenStream {
    let input: DeriveInput = syn::parse2(item.to_token_stream()).unwrap();
    let derives = |name: &str| {
        let named = |attr: &syn::Attribute| attr.meta.to_token_stream().to_string().contains(name);
        input.attrs.iter().filter(|attr| attr.path().is_ident("derive")).any(named)
    };
    if derives("Toolbox") { crate::toolbox(&input) } else { crate::tool(&input) }
}

#[test]
fn expansions_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expand");
    let update = env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".expanded.rs") {
            continue;
        }
        let (recorded, now) = (path.with_extension("expanded.rs"), expanded(&fs::read_to_string(&path).unwrap()));
        if update {
            fs::write(&recorded, &now).unwrap();
        }
        let before = fs::read_to_string(&recorded).unwrap_or_default();
        assert_eq!(now, before, "{name}: the expansion changed; if it was meant, run with UPDATE_SNAPSHOTS=1");
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} snapshots are there");
}

#[test]
fn expansions_neither_panic_nor_unwrap() {
    for source in [
        include_str!("../tests/expand/crate_path.rs"),
        include_str!("../tests/expand/descriptions.rs"),
        include_str!("../tests/expand/fields.rs"),
        include_str!("../tests/expand/generic.rs"),
        include_str!("../tests/expand/no_arguments.rs"),
        include_str!("../tests/expand/options.rs"),
        include_str!("../tests/expand/toolbox.rs"),
    ] {
        let code = expanded(source);
        for word in ["unwrap", "expect", "panic", "todo", "unimplemented", "unreachable", "pub "] {
            assert!(!code.contains(word), "`{word}` in {code}");
        }
    }
}

#[test]
fn nothing_is_reached_but_by_the_path_that_was_given() {
    for source in
        [include_str!("../tests/expand/crate_path.rs"), include_str!("../tests/expand/crate_path_mistakes.rs")]
    {
        let code = expanded(source);
        assert!(code.contains("tasks::__private") && !code.contains("insomnia_tasks"), "{code}");
    }
}
