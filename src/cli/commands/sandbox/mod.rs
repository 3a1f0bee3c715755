//! `dayshift sandbox`: the scaler on a cluster in memory.

mod command;
mod error;
mod input;

pub(crate) use command::SandboxArgs;
