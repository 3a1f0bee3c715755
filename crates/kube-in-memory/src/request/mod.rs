//! What is asked: the path, the query, and the selectors in it.

mod discovery;
mod label_selector;
mod list_options;
mod query;
mod requirement;
mod route;
mod selectors;

pub(crate) use list_options::{ListOptions, Version};
pub(crate) use route::{Call, Route};
