//! Files of manifests, without a cluster: the workloads in them, the boundaries that they
//! will have ([`plan`]), the rules ([`lint`]), and other tools' schedules in dayshift's words
//! ([`convert`]). Each uses only those before it.

mod annotations;
pub mod convert;
mod finding;
mod kind_file;
pub mod lint;
mod objects;
pub mod plan;
mod search;
mod source;
mod yaml;

pub use annotations::{Annotation, KeySite, MisplacedKey, is_of_other_tool};
pub use finding::{Finding, ObjectName, Quoted, Rule, Severity};
pub use kind_file::KindRows;
pub use objects::{
    Contents,
    defaults::{LooseAnnotations, Namespace},
    delivery::{Delivery, IgnoredByAll, RevertTiming},
    inherit, last_of_each,
    other::{OtherObject, ScaledBy, ScaledTarget, Unrendered},
    workload::{CronTimes, ManifestWorkload, Service},
};
pub use search::{FileSearch, OpenedFiles, STANDARD_INPUT};
pub use source::{MAX_BYTES, OpenError, SourceFile};
pub use yaml::{SyntaxError, node::Location};
