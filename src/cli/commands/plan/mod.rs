//! `dayshift plan`: what the schedules in files and in a cluster will do.

mod command;
mod planned;

pub(crate) use command::PlanArgs;
