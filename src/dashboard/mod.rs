//! The web page: what is wrong, what comes next, and a week of every workload at a glance.
//!
//! A [`Dashboard`] follows a cluster with a user's own permissions and answers requests with whole
//! pages. What they say is what [`status`](dayshift_operations::status) and [`plan`](dayshift_manifest::plan) say; here it is
//! only laid out. Nothing of it needs a script.

mod access;
mod actions;
mod answer;
mod entrance;
mod followed;
mod guard;
mod login;
mod pace;
mod pages;
mod params;
mod published;
mod savings;
mod settings;
mod source;
mod token;
mod view;

pub use login::{Network, NetworkError, User, UserHeaders, Users};
pub use settings::Settings;
pub use source::Dashboard;
pub use view::{Row, View};
