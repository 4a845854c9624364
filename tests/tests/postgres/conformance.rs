//! What every storage must hold, held by both of this crate's.

use async_trait::async_trait;
use insomnia_tasks::{
    session::{
        FileOptions, FileStore, StoredSession,
        postgres::{PostgresOptions, PostgresSessions, PostgresStore},
    },
    testing::{Backend, BackendError, check_storage},
};

use crate::server::server;

struct Database(PostgresSessions);

#[async_trait]
impl Backend for Database {
    type Store = PostgresStore;

    async fn open(&self, name: &str) -> Result<(PostgresStore, StoredSession), BackendError> {
        let opened = self.0.open(name, PostgresOptions::new()).await?;
        Ok((opened.store, opened.session))
    }

    async fn read(&self, name: &str) -> Result<StoredSession, BackendError> {
        Ok(self.0.read_records(name).await?)
    }

    async fn take_over(&self, name: &str) -> Option<Result<(PostgresStore, StoredSession), BackendError>> {
        let opened = self.0.open(name, PostgresOptions::new().take_over(true)).await;
        Some(opened.map(|opened| (opened.store, opened.session)).map_err(Into::into))
    }

    async fn notify(&self, name: &str, text: &str) -> Option<Result<(), BackendError>> {
        Some(self.0.notify(name, text).await.map_err(Into::into))
    }
}

#[tokio::test]
async fn sessions_in_postgres_are_kept_as_any_storage_must() {
    let server = server!();
    let database = server.database("conformance", "").await;
    check_storage(&Database(PostgresSessions::connect(&server.url_of(&database)).unwrap())).await;
}

struct Folders(tempfile::TempDir);

#[async_trait]
impl Backend for Folders {
    type Store = FileStore;

    async fn open(&self, name: &str) -> Result<(FileStore, StoredSession), BackendError> {
        let opened = FileStore::open(&self.0.path().join(name), FileOptions::new())?;
        Ok((opened.store, opened.session))
    }

    async fn read(&self, name: &str) -> Result<StoredSession, BackendError> {
        Ok(FileStore::read(&self.0.path().join(name))?)
    }
}

#[tokio::test]
async fn sessions_in_folders_are_kept_as_any_storage_must() {
    check_storage(&Folders(tempfile::tempdir().unwrap())).await;
}
