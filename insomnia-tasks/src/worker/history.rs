use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use crate::Item;

/// A read-only handle to a session's history. Cheap to clone; it shows the items that are committed so far.
///
/// Of a session that was compacted and then resumed, the first look reads the older part from where it is kept, and blocks
/// meanwhile.
#[derive(Clone, Default)]
pub struct History(Arc<Shared>);

#[derive(Default)]
struct Shared {
    items: RwLock<Vec<Item>>,
    earlier: Mutex<Earlier>,
}

/// What stands before the items: of a compacted session it is read when it is first asked for.
#[derive(Default)]
enum Earlier {
    #[default]
    Nothing,
    Unread(Reader),
    Read(Vec<Item>),
}

type Reader = Box<dyn FnOnce() -> Vec<Item> + Send>;

impl History {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.with_earlier(<[Item]>::len) + self.read(<[Item]>::len)
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at this place, from 0.
    pub fn get(&self, index: usize) -> Option<Item> {
        let (earlier, before) = self.with_earlier(|earlier| (earlier.get(index).cloned(), earlier.len()));
        earlier.or_else(|| self.read(|items| items.get(index.checked_sub(before)?).cloned()))
    }

    /// All items; they share their messages with the history.
    pub fn to_vec(&self) -> Vec<Item> {
        let mut all = self.with_earlier(<[Item]>::to_vec);
        self.read(|items| all.extend_from_slice(items));
        all
    }

    /// What stands before the items that a loop knows is to be had from this reader.
    pub(crate) fn read_earlier_with(&self, reader: impl FnOnce() -> Vec<Item> + Send + 'static) {
        *self.earlier() = Earlier::Unread(Box::new(reader));
    }

    pub(super) fn each(&self, mut look: impl FnMut(usize, &Item)) {
        self.read(|items| items.iter().enumerate().for_each(|(index, item)| look(index, item)));
    }

    /// How many items the loop knows.
    pub(super) fn known(&self) -> usize {
        self.read(<[Item]>::len)
    }

    /// From now on these are all.
    pub(super) fn replace(&self, items: Vec<Item>) {
        *self.earlier() = Earlier::Nothing;
        *self.0.items.write().unwrap_or_else(PoisonError::into_inner) = items;
    }

    pub(super) fn push(&self, item: Item) {
        self.0.items.write().unwrap_or_else(PoisonError::into_inner).push(item);
    }

    fn with_earlier<T>(&self, look: impl FnOnce(&[Item]) -> T) -> T {
        let mut earlier = self.earlier();
        if let Earlier::Unread(_) = &*earlier
            && let Earlier::Unread(reader) = std::mem::take(&mut *earlier)
        {
            *earlier = Earlier::Read(reader());
        }
        match &*earlier {
            Earlier::Read(items) => look(items),
            _ => look(&[]),
        }
    }

    fn earlier(&self) -> MutexGuard<'_, Earlier> {
        self.0.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, look: impl FnOnce(&[Item]) -> T) -> T {
        look(&self.0.items.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("len", &self.known()).finish()
    }
}
