//! Manifests in files, without a cluster: reading workloads, previewing their boundaries
//! ([`plan`]), checking their schedules ([`lint`]), and converting the schedules of other tools
//! ([`convert`]).
//!
//! [`FileSearch`] opens [`SourceFile`]s, which are read into [`Contents`]. Values are read as
//! kubectl reads them, so that a preview of a file matches the result of applying it. The cost of
//! an untrusted file is bounded: a file that is too large, too deep or expands too much should be
//! rejected as one with a syntax error is.

mod annotations;
pub mod convert;
mod finding;
mod kind_file;
pub mod lint;
mod objects;
pub mod plan;
mod schedule_file;
mod search;
mod source;
mod yaml;

pub use annotations::{Annotation, KeySite, MisplacedKey, is_of_other_tool};
pub use finding::{Finding, ObjectName, Quoted, Rule, Severity};
pub use kind_file::KindDefinitions;
pub use objects::{
    Contents,
    defaults::{Defaults, DefaultsOwner},
    inherit, last_of_each,
    other::{
        Delivery, IgnoredByAll, OtherObject, RevertTiming, ScaledBy, ScaledTarget, Unrendered,
    },
    workload::{CronTimes, ManifestWorkload, Service},
};
pub use schedule_file::{ScheduleEntry, ScheduleFile};
pub use search::{FileSearch, OpenedFiles, STANDARD_INPUT};
pub use source::{MAX_BYTES, Manifests, OpenError, SourceFile};
pub use yaml::{SyntaxError, node::Location};
