//! The web dashboard: problems, next boundaries, and a week of every workload.
//!
//! A [`Dashboard`] follows a cluster with a user's permissions and responds with complete HTML pages, which need
//! no script. It shows the results of [`status`](dayshift_operations::status) and
//! [`plan`](dayshift_manifest::plan), for the schedules of the cluster and for others that a user tries.

mod access;
mod answer;
mod carry_out;
mod entrance;
mod events;
mod followed;
mod forecast;
mod form;
mod guard;
mod labels;
mod login;
mod outlook;
mod pages;
mod params;
mod permissions;
mod plan;
mod posted;
mod proxy;
mod published;
mod source;
mod trial;
mod view;
mod week_figures;

pub use login::{User, UserHeaders, Users};
pub use proxy::{
    Network, NetworkError, ProxySecret, SECRET_HEADER, SecretError, TrustError, TrustedProxy,
};
pub use source::Dashboard;
pub use view::{Row, Settings, View};
