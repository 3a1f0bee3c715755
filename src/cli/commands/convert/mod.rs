//! `dayshift convert`: other tools' schedules in dayshift's words.

mod command;
mod in_place;
mod input;

pub(crate) use command::ConvertArgs;
