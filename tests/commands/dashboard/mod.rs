//! `dayshift dashboard`, and the dashboard of a sandbox.

pub(crate) mod actions;
pub(crate) mod browser;
mod calendar;
mod confirmed;
mod forbidden;
mod form;
mod hostile;
mod http;
mod in_cluster;
mod key;
mod large;
mod matching;
mod named;
mod namespace;
mod overview;
mod restored;
mod sandbox;
mod schedule;
mod short_texts;
mod shown;
mod stop_notice;
mod suggestion;
mod undo;
mod what_if;
