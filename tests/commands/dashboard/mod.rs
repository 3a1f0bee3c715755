//! `dayshift dashboard`, and the same pages of a sandbox.

mod browser;
mod hostile;
mod http;
mod large;
mod sandbox;
mod shown;
