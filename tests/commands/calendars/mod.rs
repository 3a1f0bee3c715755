//! `--calendar`, wherever texts are read: files of public holidays, and what they do.
//!
//! - `files`: the calendars, and a Deployment that names some
//! - `year`: a year of two countries
//! - `commands`: what each command says of calendars
//! - `unreadable`: and of those that cannot be read

mod commands;
mod files;
mod unreadable;
mod year;
