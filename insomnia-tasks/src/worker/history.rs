use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use crate::Item;

/// A read-only handle to a session's history. Cheap to clone; it shows the items that are committed so far.
#[derive(Clone, Default)]
pub struct History(Arc<RwLock<Vec<Item>>>);

impl History {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.read(<[Item]>::len)
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at this place, from 0.
    pub fn get(&self, index: usize) -> Option<Item> {
        self.read(|items| items.get(index).cloned())
    }

    /// All items; they share their messages with the history.
    pub fn to_vec(&self) -> Vec<Item> {
        self.read(<[Item]>::to_vec)
    }

    pub(super) fn each(&self, mut look: impl FnMut(usize, &Item)) {
        self.read(|items| items.iter().enumerate().for_each(|(index, item)| look(index, item)));
    }

    pub(super) fn replace(&self, items: Vec<Item>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = items;
    }

    pub(super) fn push(&self, item: Item) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(item);
    }

    fn read<T>(&self, look: impl FnOnce(&[Item]) -> T) -> T {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("len", &self.len()).finish()
    }
}
