//! `dayshift status`: how the scheduled workloads of a cluster stand.

mod command;
mod view;

pub(crate) use command::StatusArgs;
