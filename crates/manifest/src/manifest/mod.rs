//! Files of manifests: the workloads in them, and where in the file everything stands.
//!
//! A [`Search`] opens [`Source`]s, which are read into [`Workload`]s. Values mean what they mean to
//! kubectl, so that what is shown of a file is what applying it does. What a stranger's file can
//! cost is bounded: too large, too deep or too often repeated is an error as a missing quote is.

mod annotations;
mod error;
mod files;
mod finding;
mod inheritance;
mod kind_file;
mod objects;
mod scope;
mod tree;

pub use annotations::annotation::Annotation;
pub use annotations::misplaced_key::{MisplacedKey, Site, is_of_other_tool};
pub use error::{MAX_BYTES, OpenError, SyntaxError};
pub use files::contents::{Contents, last_of_each};
pub use files::search::{Opened, STANDARD_INPUT, Search};
pub use files::source::Source;
pub(crate) use finding::rules;
pub use finding::{Finding, ObjectName, Quoted, Rule, Severity};
pub use inheritance::inherit;
pub use kind_file::KindRows;
pub use objects::cron_job::CronTimes;
pub use objects::delivery::{Delivery, IgnoredByAll, PutsBack};
pub use objects::loose::LooseAnnotations;
pub use objects::namespace::Namespace;
pub use objects::other::Other;
pub use objects::scale_target::{ScaleTarget, ScaledBy};
pub use objects::service::Service;
pub use objects::unrendered::Unrendered;
pub use objects::workload::Workload;
pub use tree::location::Location;
pub(crate) use tree::node::{Content, Entry, Node};
pub(crate) use tree::scalar::Scalar;
