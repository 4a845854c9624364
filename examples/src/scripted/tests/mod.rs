//! The server from outside: through async-openai's typed client, and byte by byte.

mod delivery;
mod protocol;
mod raw;
mod refusals;
