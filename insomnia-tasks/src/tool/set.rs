use std::{collections::HashMap, fmt, pin::Pin, sync::Arc};

use super::{
    definition::{DefinitionError, ToolDefinition},
    error::ToolError,
    names,
    output::ToolOutput,
    private::finish,
    run::Run,
    tool::Tool,
    toolbox::{RunToolbox, Toolbox},
};

/// A call that is being run.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// The tools of an agent, their types forgotten: definitions in the order in which they were added, and a way to call
/// each by name. Cheap to clone; a clone does not see what is added later.
///
/// ```
/// use std::sync::Arc;
///
/// use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError, ToolSet};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Greet someone.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Greet {
///     /// Whom.
///     name: String,
/// }
///
/// impl Run<str> for Greet {
///     async fn run(self, greeting: &str) -> Result<impl IntoToolOutput, ToolError> {
///         Ok(format!("{greeting}, {}!", self.name))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut tools = ToolSet::new();
/// tools.add::<Greet, str>(Arc::from("Hello"))?;
///
/// let call = tools.call("Greet", r#"{"name": "Ada"}"#).ok_or("no such tool")?;
/// assert_eq!(call.await?.text(), "Hello, Ada!");
/// assert!(tools.call("greet", "{}").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ToolSet {
    shared: Arc<Shared>,
}

#[derive(Clone, Default)]
struct Shared {
    definitions: Vec<ToolDefinition>,
    entries: HashMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    ordered: bool,
    run: Runner,
}

/// From name and arguments to the running call.
type Runner = Arc<dyn Fn(&str, &str) -> ToolFuture + Send + Sync>;

impl ToolSet {
    /// A set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that runs on `state`.
    ///
    /// # Errors
    /// If there is a tool of that name already, or the tool's schema has no plain form. Nothing is added then.
    pub fn add<T, S>(&mut self, state: Arc<S>) -> Result<&mut Self, AddToolError>
    where
        T: Run<S>,
        S: ?Sized + Send + Sync + 'static,
    {
        let run = move |_: &str, arguments: &str| -> ToolFuture {
            let (state, arguments) = (Arc::clone(&state), arguments.to_owned());
            Box::pin(async move { finish(T::parse(&arguments)?.run(&*state).await) })
        };
        self.insert(vec![<T as Tool>::try_definition()?], false, Arc::new(run))
    }

    /// Adds the tools of a toolbox, all of which run on `state`.
    ///
    /// # Errors
    /// As [`ToolSet::add`]; either all tools are added or none.
    pub fn add_toolbox<B, S>(&mut self, state: Arc<S>) -> Result<&mut Self, AddToolError>
    where
        B: RunToolbox<S>,
        S: ?Sized + Send + Sync + 'static,
    {
        self.insert(B::try_definitions()?, false, toolbox_runner::<B, S>(state))
    }

    /// Adds the tools of a toolbox whose calls depend on each other's order: the calls of one answer to such tools are run
    /// one after another, in the order of the calls, before all others.
    ///
    /// # Errors
    /// As [`ToolSet::add_toolbox`].
    pub fn add_ordered_toolbox<B, S>(&mut self, state: Arc<S>) -> Result<&mut Self, AddToolError>
    where
        B: RunToolbox<S>,
        S: ?Sized + Send + Sync + 'static,
    {
        self.insert(B::try_definitions()?, true, toolbox_runner::<B, S>(state))
    }

    /// Adds a tool that is known only at run time. The closure gets the arguments as the model wrote them;
    /// [`parse_object`](super::arguments::parse_object) reads them leniently.
    ///
    /// # Errors
    /// If there is a tool of that name already.
    pub fn add_fn<F, R>(&mut self, definition: ToolDefinition, run: F) -> Result<&mut Self, AddToolError>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let run = move |_: &str, arguments: &str| -> ToolFuture { Box::pin(run(arguments.to_owned())) };
        self.insert(vec![definition], false, Arc::new(run))
    }

    /// Adds all tools of another set.
    ///
    /// # Errors
    /// If a name is in both; nothing is added then.
    pub fn extend(&mut self, other: &ToolSet) -> Result<&mut Self, AddToolError> {
        if let Some(taken) = other.names().find(|name| self.contains(name)) {
            return Err(AddToolError::DuplicateTool { name: taken.to_owned() });
        }
        let shared = Arc::make_mut(&mut self.shared);
        shared.definitions.extend_from_slice(other.definitions());
        shared.entries.extend(other.shared.entries.iter().map(|(name, entry)| (name.clone(), entry.clone())));
        Ok(self)
    }

    /// The definitions, in the order in which the tools were added.
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.shared.definitions
    }

    /// The names, in the order in which the tools were added.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.shared.definitions.iter().map(ToolDefinition::name)
    }

    /// Whether there is a tool of exactly this name.
    pub fn contains(&self, name: &str) -> bool {
        self.shared.entries.contains_key(name)
    }

    /// Whether calls of this tool are run one after another, before all others. False where there is no such tool.
    pub fn is_ordered(&self, name: &str) -> bool {
        self.shared.entries.get(name).is_some_and(|entry| entry.ordered)
    }

    /// The call, not yet begun: it runs as the future is polled. None where there is no tool of exactly this name.
    pub fn call(&self, name: &str, arguments: &str) -> Option<ToolFuture> {
        self.shared.entries.get(name).map(|entry| (entry.run)(name, arguments))
    }

    /// The tool that was most likely meant by a name that is not known: `functions.TaskCreate`, `task_create` and
    /// `TaskCreate<|channel|>commentary` all mean `TaskCreate`. None where it is none or more than one.
    pub fn closest(&self, name: &str) -> Option<&str> {
        names::closest(name, self.names())
    }

    /// What to tell a model that called a tool that does not exist: which there are (at most 20), and which one it may
    /// have meant.
    pub fn unknown_tool_message(&self, name: &str) -> String {
        names::unknown_tool(name, self.names())
    }

    fn insert(
        &mut self,
        definitions: Vec<ToolDefinition>,
        ordered: bool,
        run: Runner,
    ) -> Result<&mut Self, AddToolError> {
        if let Some(taken) = definitions.iter().find(|definition| self.contains(definition.name())) {
            return Err(AddToolError::DuplicateTool { name: taken.name().to_owned() });
        }
        let shared = Arc::make_mut(&mut self.shared);
        for definition in definitions {
            shared.entries.insert(definition.name().to_owned(), Entry { ordered, run: Arc::clone(&run) });
            shared.definitions.push(definition);
        }
        Ok(self)
    }
}

fn toolbox_runner<B, S>(state: Arc<S>) -> Runner
where
    B: RunToolbox<S>,
    S: ?Sized + Send + Sync + 'static,
{
    Arc::new(move |name, arguments| {
        let (state, decoded) = (Arc::clone(&state), <B as Toolbox>::decode(name, arguments));
        Box::pin(async move { decoded?.run(&*state).await })
    })
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Why a tool could not be added to a [`ToolSet`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddToolError {
    /// The model could not tell the two apart.
    #[error("there is a tool named `{name}` already: give one of them another name with `#[tool(name = \"...\")]`")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// The tool cannot be told to every server.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}
