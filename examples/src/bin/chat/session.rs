use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use insomnia_tasks::{Pod, pod::PodError};
use insomnia_tasks_examples::tools::{ListFiles, ReadFile, Workspace};

use crate::{
    args::Args,
    endpoint::Endpoint,
    failure::Failure,
    place::{self, Place},
};

/// The system prompt of a new session where none is given.
const INSTRUCTIONS: &str = "You are a helpful assistant. You can list and read files below the current folder. \
    Keep a task list for work of several steps.";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// An open session and where it is kept, as it may be shown.
pub(crate) struct Opened {
    pub(crate) pod: Pod,
    pub(crate) place: String,
}

/// Opens the session that the flags name, or a new one under the user's data folder.
pub(crate) async fn open(args: &Args, endpoint: &Endpoint) -> Result<Opened, Failure> {
    let folder = match &args.session {
        Some(folder) => folder.clone(),
        None => new_folder()?,
    };
    let workspace = Workspace::new(Path::new("."))
        .map_err(|error| Failure::Usage(format!("the current folder cannot be read: {error}")))?;
    let workspace = Arc::new(workspace);
    let mut builder = Pod::builder(&endpoint.client, &endpoint.model)
        .tool::<ListFiles, Workspace>(Arc::clone(&workspace))
        .tool::<ReadFile, Workspace>(workspace)
        .cadence(args.cadence())
        .reminder(args.reminder)
        .stream(!args.no_stream)
        .max_requests(args.max_requests)
        .default_instructions(INSTRUCTIONS);
    builder = Place::of(&folder)?.keep(builder);
    let place = place::shown(&folder);
    if endpoint.is_local() {
        let direct = reqwest::Client::builder().no_proxy().connect_timeout(CONNECT_TIMEOUT).build();
        builder = builder.http_client(direct.map_err(|error| Failure::Turn(error.to_string()))?);
    }
    if let Some(instructions) = &args.instructions {
        builder = builder.instructions(instructions);
    }
    match builder.build().await {
        Ok(pod) => Ok(Opened { pod, place }),
        Err(PodError::Session(error)) => {
            Err(Failure::Session(format!("{error}\nhint: --session DIR names another folder")))
        }
        Err(PodError::Postgres(error)) => Err(Failure::Session(error.to_string())),
        Err(error) => Err(Failure::Turn(error.to_string())),
    }
}

fn new_folder() -> Result<PathBuf, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(folder()?.join(format!("{}-{}", now.as_millis(), std::process::id())))
}

/// Where sessions are that were given no folder.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let data = dirs::data_dir().ok_or_else(|| {
        Failure::Session("there is no data folder for this user; name a session folder with --session".to_owned())
    })?;
    Ok(data.join("insomnia-tasks").join("sessions"))
}
