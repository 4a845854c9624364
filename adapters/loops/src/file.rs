use std::{fs, io, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use crate::Error;

/// The history in this file; empty where there is none.
pub(crate) fn read<M: DeserializeOwned>(file: &Path) -> Result<Vec<M>, Error> {
    match fs::read(file) {
        Ok(json) => Ok(serde_json::from_slice(&json)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Puts the history in the file, which holds the old one or the new one at every moment.
pub(crate) fn write<M: Serialize>(file: &Path, messages: &[M]) -> Result<(), Error> {
    let unfinished = file.with_extension("tmp");
    fs::write(&unfinished, serde_json::to_vec(messages)?)?;
    fs::File::open(&unfinished)?.sync_all()?;
    Ok(fs::rename(unfinished, file)?)
}
