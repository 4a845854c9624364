//! What the benches share: a clock that counts CPU time, a server, and conversations to send to it.

mod cpu;
mod server;
pub mod talk;

pub use cpu::CpuTime;
pub use server::Server;
