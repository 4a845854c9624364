//! Derive macros of `insomnia-tasks`.
