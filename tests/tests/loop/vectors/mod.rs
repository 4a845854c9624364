//! The worked cases of the reminder: on the counters alone, through a session, resumed between turns, and in loops of a host.

mod case;
mod counters;
mod drop_in;
mod sessions;
