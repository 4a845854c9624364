use syn::{
    Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Token, meta::ParseNestedMeta, parse_quote, spanned::Spanned,
};

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
    /// In paragraphs.
    Written(String),
    /// Parts of which some are known to the compiler alone, such as `include_str!("...")`.
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
        let given_before = match option.as_str() {
            "name" => self.name.replace(text(meta, &option)?).is_some(),
            "description" => {
                let given = computed(meta, &option);
                // one mistake is not two: there was a description
                let value = given.clone().unwrap_or_else(|_| parse_quote!("..."));
                let given_before = self.description.replace(value).is_some();
                given.map(|_| given_before)?
            }
            "crate" => self.krate.replace(path(&text(meta, &option)?)?).is_some(),
            _ => {
                errors.at(
                    &meta.path,
                    "unknown option: `#[tool(...)]` knows `name = \"...\"`, `description = \"...\"` and `crate = \"...\"`",
                );
                return skip_value(meta);
            }
        };
        if given_before {
            errors.at(&meta.path, format!("`{option}` is given twice: remove one of the two"));
        }
        Ok(())
    }
}

fn text(meta: &ParseNestedMeta<'_>, option: &str) -> syn::Result<LitStr> {
    let value = meta.value().and_then(|value| value.parse());
    value.map_err(|error| syn::Error::new(error.span(), format!("write `{option} = \"...\"`")))
}

/// A text, or what the compiler makes one of: a constant, `concat!(..)`, `include_str!(..)`.
fn computed(meta: &ParseNestedMeta<'_>, option: &str) -> syn::Result<Expr> {
    let way_out = |place| syn::Error::new(place, format!("write `{option} = \"...\"`, or name a constant"));
    let value: Expr = meta.value().and_then(|value| value.parse()).map_err(|error| way_out(error.span()))?;
    match ungrouped(&value) {
        Expr::Lit(other) if !matches!(other.lit, Lit::Str(_)) => Err(way_out(other.span())),
        _ => Ok(value),
    }
}

fn path(text: &LitStr) -> syn::Result<Path> {
    let way_out = "this is no path to `insomnia-tasks`: write the name that your manifest gives it, such as \
                   `crate = \"tasks\"`, or a path to it, such as `crate = \"crate::prelude::insomnia_tasks\"`";
    text.parse_with(Path::parse_mod_style).map_err(|_| syn::Error::new(text.span(), way_out))
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
        content.parse::<proc_macro2::TokenStream>()?;
    }
    Ok(())
}

pub(crate) fn doc(attrs: &[Attribute]) -> Option<Doc<'_>> {
    let (lines, values): (Vec<_>, Vec<_>) = attrs.iter().filter_map(|attr| Some((attr, doc_value(attr)?))).unzip();
    let Some(texts) = values.iter().map(|value| literal(value)).collect::<Option<Vec<_>>>() else {
        return Some(Doc { text: DocText::Computed(values), lines });
    };
    let text = paragraphs(texts.iter().flat_map(|text| lines_of(text)));
    (!text.is_empty()).then_some(Doc { text: DocText::Written(text), lines })
}

fn doc_value(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

/// The text that an expression is as it stands.
pub(crate) fn literal(value: &Expr) -> Option<String> {
    match ungrouped(value) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
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

/// The lines of a text, without what a block comment has at their left: the indentation of the code and a column of `*`.
fn lines_of(text: &str) -> Vec<&str> {
    let Some((first, rest)) = text.split_once('\n') else { return vec![text] };
    let unindented = |line: &str| line.trim_start_matches([' ', '\t']).len();
    let filled = || rest.split('\n').filter(|line| unindented(line) > 0);
    let indent = filled().map(|line| line.len() - unindented(line)).min().unwrap_or_default();
    // at the very left it is a list
    let starred = indent > 0 && filled().all(|line| line.get(indent..).is_some_and(|line| line.starts_with('*')));
    let left = indent + usize::from(starred);
    std::iter::once(first).chain(rest.split('\n').map(|line| line.get(left..).unwrap_or_default())).collect()
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
    use super::{lines_of, paragraphs};

    #[test]
    fn reads_block_comments() {
        for (text, want) in [
            (" Read.", &[" Read."] as &[_]),
            (" Read\n * a file\n *\n * - or two\n ", &[" Read", " a file", "", " - or two", ""]),
            ("\n\t * Read\n\n\t * it\n\t ", &["", " Read", "", " it", ""]),
            ("\n    Read\n      it\n    ", &["", "Read", "  it", ""]),
            (" Read:\n* one\n* two", &[" Read:", "* one", "* two"]),
            (" Read:\n * one\n - two", &[" Read:", "* one", "- two"]),
            (" Read\n \u{3000}* it\n  *", &[" Read", "\u{3000}* it", " *"]),
        ] {
            assert_eq!(lines_of(text), want, "{text}");
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
