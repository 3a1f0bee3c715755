//! `--calendar` in all commands that read schedules: files of public holidays and their effect.
//!
//! - `files`: the calendars, and a Deployment that uses some of them
//! - `year`: a year in two countries
//! - `commands`: the output of each command
//! - `unreadable`: calendars that cannot be read

mod commands;
mod files;
mod unreadable;
mod year;
