use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Token, meta::ParseNestedMeta, parse_quote};

use crate::errors::Errors;

/// What stands in the attributes of a struct.
#[derive(Default)]
pub(crate) struct ToolAttrs<'a> {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    pub(crate) krate: Option<Path>,
    pub(crate) doc: Option<Doc<'a>>,
}

/// A doc comment, and where it stands.
pub(crate) struct Doc<'a> {
    pub(crate) text: DocText<'a>,
    pub(crate) lines: Vec<&'a Attribute>,
}

pub(crate) enum DocText<'a> {
    /// Written out, in paragraphs.
    Written(String),
    /// Lines of which some are known to the compiler only, such as `include_str!("...")`.
    Computed(Vec<&'a Expr>),
}

impl<'a> ToolAttrs<'a> {
    pub(crate) fn read(attrs: &'a [Attribute], errors: &mut Errors) -> Self {
        let mut read = Self { doc: doc(attrs), ..Self::default() };
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool")) {
            if let Err(error) = attr.parse_nested_meta(|meta| read.option(&meta, errors)) {
                errors.push(error);
            }
        }
        read
    }

    fn option(&mut self, meta: &ParseNestedMeta<'_>, errors: &mut Errors) -> syn::Result<()> {
        let option = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let twice = match option.as_str() {
            "name" => self.name.replace(text(meta, &option)?).is_some(),
            "description" => self.description.replace(computed(meta, &option)?).is_some(),
            "crate" => self.krate.replace(path(&text(meta, &option)?)?).is_some(),
            _ => {
                errors.at(
                    &meta.path,
                    "unknown option: `#[tool(...)]` knows `name = \"...\"`, `description = \"...\"` and `crate = \"...\"`",
                );
                return skip_value(meta);
            }
        };
        if twice {
            errors.at(&meta.path, format!("`{option}` is given twice: remove one of the two"));
        }
        Ok(())
    }
}

fn text(meta: &ParseNestedMeta<'_>, option: &str) -> syn::Result<LitStr> {
    let value = meta.value().and_then(|value| value.parse());
    value.map_err(|error| syn::Error::new(error.span(), format!("write `{option} = \"...\"`")))
}

/// A text, or what the compiler makes one of: `include_str!("...")`, `concat!(...)`, a constant.
fn computed(meta: &ParseNestedMeta<'_>, option: &str) -> syn::Result<Expr> {
    let way_out = |place| syn::Error::new(place, format!("write `{option} = \"...\"`"));
    let value: Expr = meta.value().and_then(|value| value.parse()).map_err(|error| way_out(error.span()))?;
    match ungrouped(&value) {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) | Expr::Macro(_) | Expr::Path(_) => Ok(value),
        other => Err(way_out(syn::spanned::Spanned::span(other))),
    }
}

fn path(text: &LitStr) -> syn::Result<Path> {
    text.parse_with(Path::parse_mod_style).map_err(|_| {
        syn::Error::new(text.span(), "write the path by which this crate is reached, such as `crate = \"my_name\"`")
    })
}

/// The path to what derives name, by the way in which their input says that this crate is reached; errors about it are shown
/// at `place`. Mistakes in the path are reported elsewhere.
pub(crate) fn private(attrs: &[Attribute], place: Span) -> TokenStream {
    let krate = ToolAttrs::read(attrs, &mut Errors::default()).krate.unwrap_or_else(|| parse_quote!(::insomnia_tasks));
    let path = quote!(#krate::__private).into_iter().map(|mut token| {
        token.set_span(place.resolved_at(token.span()));
        token
    });
    path.collect()
}

/// Reports `#[tool(...)]` where it has no meaning.
pub(crate) fn refuse(attrs: &[Attribute], way_out: &str, errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("tool")) {
        errors.at(attr, way_out);
    }
}

/// Passes over the value of an option, so that the options after it are read.
pub(crate) fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

pub(crate) fn doc(attrs: &[Attribute]) -> Option<Doc<'_>> {
    let (lines, values): (Vec<_>, Vec<_>) =
        attrs.iter().filter_map(|attr| Some((attr, doc_value(attr)?))).unzip();
    let Some(texts) = values.iter().map(|value| literal(value)).collect::<Option<Vec<_>>>() else {
        return Some(Doc { text: DocText::Computed(values), lines });
    };
    let text = paragraphs(texts.iter().map(|text| without_stars(text)).collect::<Vec<_>>().iter().flat_map(|text| text.split('\n')));
    (!text.is_empty()).then_some(Doc { text: DocText::Written(text), lines })
}

fn doc_value(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(ungrouped(&meta.value)),
        _ => None,
    }
}

/// What comes through a `macro_rules` variable is wrapped.
fn ungrouped(mut value: &Expr) -> &Expr {
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    value
}

/// The text that an expression is as it stands.
pub(crate) fn literal(value: &Expr) -> Option<String> {
    match ungrouped(value) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// A block comment's text without the column of `*` at its left.
fn without_stars(text: &str) -> Cow<'_, str> {
    let Some((first, rest)) = text.split_once('\n') else { return Cow::Borrowed(text) };
    let starred = |line: &str| line.trim_start().strip_prefix('*').map(str::to_owned);
    let last_blank = rest.rsplit('\n').next().is_some_and(|last| last.trim().is_empty());
    let lines: Vec<_> = rest.split('\n').collect();
    let lines = lines.get(..lines.len() - usize::from(last_blank)).unwrap_or_default();
    match lines.iter().map(|line| starred(line)).collect::<Option<Vec<_>>>() {
        Some(rest) if first.trim().is_empty() || !first.trim_start().starts_with("* ") => {
            Cow::Owned([vec![first.to_owned()], rest].concat().join("\n"))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Joins the lines of each paragraph by spaces, and paragraphs by line breaks. Lines that mean something to Markdown by
/// standing alone (lists, headings, tables, code) keep doing so.
fn paragraphs<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let (mut out, mut fenced, mut broken) = (String::new(), false, true);
    for line in lines {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let fence = line.trim_start().starts_with("```");
        let alone = fenced || fence || stands_alone(line);
        if line.is_empty() && !fenced {
            broken = true;
            continue;
        }
        if !out.is_empty() {
            out.push(if broken || alone { '\n' } else { ' ' });
        }
        out.push_str(if alone { line } else { line.trim_start() });
        fenced ^= fence;
        broken = fence || line.starts_with('#');
    }
    out.trim().to_owned()
}

fn stands_alone(line: &str) -> bool {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < text.len() && (number.starts_with(". ") || number.starts_with(") "));
    numbered
        || line.starts_with("    ")
        || ["- ", "* ", "+ ", "# ", "## ", "### ", "|", ">"].iter().any(|mark| text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::{paragraphs, without_stars};

    #[test]
    fn takes_the_stars_off_block_comments() {
        assert_eq!(without_stars(" Read\n * a file\n *\n * - or two\n "), " Read\n a file\n\n - or two");
        assert_eq!(without_stars("\n * Read\n "), "\n Read");
        for kept in [" Read", " Read:\n - one\n * two", " * one\n * two"] {
            assert_eq!(without_stars(kept), kept);
        }
    }

    #[test]
    fn joins_lines_into_paragraphs() {
        let lines = [" Read a file", " of the workspace.", "", "", " See [`Other`]. ", " ", "   indented"];
        assert_eq!(paragraphs(lines.into_iter()), "Read a file of the workspace.\nSee [`Other`].\nindented");
        assert_eq!(paragraphs(["", "  "].into_iter()), "");
    }

    #[test]
    fn keeps_markdown() {
        let lines = [
            " Use it:",
            " - once",
            "   more",
            " - twice",
            " 1. first",
            " # Head",
            " text",
            " ```",
            " a",
            "",
            "   b",
            " ```",
            " end",
        ];
        let text = "Use it:\n- once more\n- twice\n1. first\n# Head\ntext\n```\na\n\n  b\n```\nend";
        assert_eq!(paragraphs(lines.into_iter()), text);
    }
}
