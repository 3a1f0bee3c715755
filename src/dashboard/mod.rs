//! The web page: what is wrong, what comes next, and a week of every workload at a glance.
//!
//! A [`Dashboard`] follows a cluster with a user's own permissions and answers requests with whole
//! pages. What they say is what [`status`](dayshift_operations::status) and [`plan`](dayshift_manifest::plan) say; here it is
//! only laid out. Nothing of it needs a script.

mod access;
mod answer;
mod carry_out;
mod entrance;
mod followed;
mod form;
mod guard;
mod login;
mod pages;
mod params;
mod plan;
mod posted;
mod published;
mod source;
mod view;

pub use login::{Network, NetworkError, User, UserHeaders, Users};
pub use source::Dashboard;
pub use view::{Row, Settings, View};
