//! The derive macros: what they make of good input, and what they say of mistakes.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use insomnia_tasks::{
    IntoToolOutput, Run, Tool, ToolDefinition, ToolError, ToolOutput, ToolSet, Toolbox,
    tool::{AddToolError, DecodeError, DefinitionError, Json, RunToolbox},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;

#[test]
fn mistakes_are_told_at_their_place() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
    // the hints of the traits stand within rustc's own words, which change with it
    if rustc_version().starts_with(RECORDED_WITH) {
        cases.compile_fail("tests/ui/fail_rustc/*.rs");
    } else {
        eprintln!("skipped: the messages of `tests/ui/fail_rustc` were recorded with {RECORDED_WITH}");
    }
}

const RECORDED_WITH: &str = "rustc 1.95.";

fn rustc_version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output().map(|output| output.stdout);
    version.map(|version| String::from_utf8_lossy(&version).into_owned()).unwrap_or_default()
}

/// Files and what was done to them.
#[derive(Default)]
struct Workspace {
    log: Mutex<Vec<String>>,
}

impl Workspace {
    fn note(&self, text: String) {
        if let Ok(mut log) = self.log.lock() {
            log.push(text);
        }
    }
}

/// Read a text file
/// of the workspace.
///
/// See [`Search`] to find one.
#[derive(Deserialize, JsonSchema, Tool)]
pub struct ReadFile {
    /// Path below the workspace root.
    path: PathBuf,
    /// First line to read, from 1.
    line: Option<u32>,
}

impl Run<Workspace> for ReadFile {
    async fn run(self, workspace: &Workspace) -> Result<impl IntoToolOutput, ToolError> {
        workspace.note(format!("read {}", self.path.display()));
        match self.line {
            Some(0) => Err("`line` counts from 1".into()),
            line => Ok(Json(json!({"from": line.unwrap_or(1)}))),
        }
    }
}

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "search", description = "Search all files.")]
struct Search {
    text: String,
}

impl Run<Workspace> for Search {
    #[allow(refining_impl_trait, reason = "a concrete output is allowed to be named")]
    async fn run(self, workspace: &Workspace) -> Result<&'static str, ToolError> {
        workspace.note(format!("search {}", self.text));
        Ok("nothing found")
    }
}

/// Do nothing.
#[derive(Deserialize, JsonSchema, Tool)]
struct Idle;

impl<S: ?Sized + Sync> Run<S> for Idle {
    async fn run(self, _: &S) -> Result<impl IntoToolOutput, ToolError> {
        Ok("idle")
    }
}

#[derive(Toolbox)]
enum MyTools {
    ReadFile(ReadFile),
    Search(Search),
    Idle(Idle),
}

/// Grow.
#[derive(Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Tree {
    root: Node,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by the derives only")]
struct Node {
    children: Vec<Node>,
}

#[test]
fn definitions_are_exact_and_rendered_once() {
    let expected = concat!(
        r#"{"type":"function","function":{"name":"ReadFile","#,
        r#""description":"Read a text file of the workspace.\nSee [`Search`] to find one.","#,
        r#""parameters":{"type":"object","properties":{"#,
        r#""path":{"type":"string","description":"Path below the workspace root."},"#,
        r#""line":{"type":"integer","description":"First line to read, from 1.","minimum":0}},"#,
        r#""required":["path"]}}}"#,
    );
    assert_eq!(ReadFile::definition().raw().get(), expected);
    assert_eq!(serde_json::to_string(&[ReadFile::definition()]).unwrap(), format!("[{expected}]"));
    assert!(std::ptr::eq(ReadFile::definition().raw(), ReadFile::definition().raw()));
    let names: Vec<_> = MyTools::definitions().iter().map(|definition| definition.name().to_owned()).collect();
    assert_eq!(names, ["ReadFile", "search", "Idle"]);
}

#[test]
fn a_schema_without_a_plain_form_is_an_error_that_names_tool_and_field() {
    let error = Tree::try_definition().unwrap_err();
    assert!(matches!(error, DefinitionError::Schema { .. }));
    let message = error.to_string();
    assert!(message.contains("`Tree`") && message.contains("`root.children[]`"), "{message}");
    let panic = std::panic::catch_unwind(Tree::definition).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>(), Some(&message));
    // The arguments can be read all the same.
    assert!(Tree::parse(r#"{"root": {"children": [{"children": []}]}}"#).is_ok());
}

/// Do it to many.
#[derive(Deserialize, JsonSchema, Tool)]
#[serde(bound = "T: Tool")]
#[schemars(bound = "T: Tool")]
struct Many<T> {
    #[schemars(schema_with = "schema_of::<T>")]
    _one: T,
}

fn schema_of<T: Tool>(_: &mut SchemaGenerator) -> Schema {
    serde_json::from_str(T::definition().parameters().get()).unwrap_or_default()
}

#[test]
fn a_generic_tool_may_ask_for_the_definition_of_another() {
    let told = Many::<Many<Search>>::definition().parameters().get().to_owned();
    assert!(told.contains(r#""text":{"type":"string"}"#), "{told}");
    assert!(std::ptr::eq(Many::<Search>::definition().raw(), Many::<Search>::definition().raw()));
}

#[test]
fn decodes_by_name() {
    assert!(
        matches!(MyTools::decode("search", r#"{"text": "x"}"#), Ok(MyTools::Search(Search { text })) if text == "x")
    );
    assert!(matches!(MyTools::decode("Idle", "null"), Ok(MyTools::Idle(Idle))));
    let unknown = MyTools::decode("functions.ReadFile", "{}").map(drop).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no tool named `functions.ReadFile`; nothing was run. Did you mean `ReadFile`? The tools are: ReadFile, \
         search, Idle."
    );
    let wrong = MyTools::decode("ReadFile", "{}").map(drop).unwrap_err();
    assert!(matches!(&wrong, DecodeError::Arguments(error) if error.message().contains("missing field `path`")));
}

#[tokio::test]
async fn a_toolbox_runs_its_tools_on_one_state() {
    let workspace = Workspace::default();
    let run = async |name, arguments| MyTools::decode(name, arguments).unwrap().run(&workspace).await;
    assert_eq!(run("ReadFile", r#"{"path": "a", "line": "3"}"#).await.unwrap().text(), r#"{"from":3}"#);
    assert_eq!(run("ReadFile", r#"{"path": "b", "line": 0}"#).await.unwrap_err().message(), "`line` counts from 1");
    assert_eq!(run("search", r#"{"text": "c"}"#).await.unwrap().text(), "nothing found");
    assert_eq!(*workspace.log.lock().unwrap(), ["read a", "read b", "search c"]);
}

#[derive(Toolbox)]
enum Boxed {
    ReadFile(Box<ReadFile>),
    Search(Search),
}

#[tokio::test]
async fn a_toolbox_may_box_its_tools() {
    let workspace = Workspace::default();
    assert_eq!(Boxed::definitions(), MyTools::definitions()[..2]);
    let read = Boxed::decode("ReadFile", r#"{"path": "a", "line": "3"}"#).unwrap();
    assert!(matches!(&read, Boxed::ReadFile(file) if file.line == Some(3)));
    assert_eq!(read.run(&workspace).await.unwrap().text(), r#"{"from":3}"#);
    let error = Boxed::decode("ReadFile", "{}").map(drop).unwrap_err().to_string();
    assert!(error.contains("do not fit ReadFile: missing field `path`"), "{error}");
}

#[tokio::test]
async fn a_set_forgets_types_and_keeps_order() {
    let workspace = Arc::new(Workspace::default());
    let now = ToolDefinition::new("now", "Tell the time.", json!({"type": "object"})).unwrap();
    let mut tools = ToolSet::new();
    tools.add_fn(now.clone(), |arguments| async move { Ok(ToolOutput::new(format!("now {arguments}"))) }).unwrap();
    let before = tools.clone();
    tools.add_ordered_toolbox::<MyTools, _>(Arc::clone(&workspace)).unwrap();

    assert_eq!(tools.names().collect::<Vec<_>>(), ["now", "ReadFile", "search", "Idle"]);
    assert_eq!(tools.definitions().len(), 4);
    assert_eq!(before.definitions(), [now]);
    assert!(tools.is_ordered("search") && !tools.is_ordered("now") && !tools.is_ordered("none"));

    let call = |name: &str, arguments: &str| tools.call(name, arguments).unwrap();
    assert_eq!(call("now", "{ }").await.unwrap().text(), "now { }");
    assert_eq!(call("search", r#"{"text": "x"}"#).await.unwrap().text(), "nothing found");
    assert!(call("search", "[]").await.unwrap_err().message().contains("nothing was run"));
    assert!(tools.call("Search", "{}").is_none());
    assert_eq!(tools.closest("Search"), Some("search"));
    assert!(tools.unknown_tool_message("Search").contains("Did you mean `search`?"));
    // A call runs only when polled.
    drop(call("search", r#"{"text": "never"}"#));
    assert_eq!(*workspace.log.lock().unwrap(), ["search x"]);
}

#[tokio::test]
async fn a_state_may_be_a_trait_object() {
    let state: Arc<dyn std::fmt::Debug + Send + Sync> = Arc::new(1);
    let mut tools = ToolSet::new();
    tools.add::<Idle, _>(state).unwrap();
    let running = tokio::spawn(tools.call("Idle", "").unwrap());
    assert_eq!(running.await.unwrap().unwrap().text(), "idle");
}

#[test]
fn a_name_is_added_once() {
    let mut tools = ToolSet::new();
    tools.add::<Idle, _>(Arc::new(())).unwrap();
    let error = tools.add_toolbox::<MyTools, _>(Arc::new(Workspace::default())).unwrap_err();
    assert!(matches!(&error, AddToolError::DuplicateTool { name } if name == "Idle"), "{error}");
    assert_eq!(tools.names().collect::<Vec<_>>(), ["Idle"], "all or none");
}
