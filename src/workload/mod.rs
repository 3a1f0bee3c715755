//! One object: what its annotations ask for, what its labels remember, and [`decide`].
//!
//! Nothing here knows Kubernetes' client, a runtime or a clock: the same inputs give the same
//! decision, which is what the tables and the oracle of the tests rest on.

mod annotations;
mod change;
mod context;
mod counts;
mod decide;
mod event_note;
mod fingerprint;
mod inputs;
mod keys;
mod kind;
mod labels;
mod memory;
mod observed;
mod overdue;
mod override_command;
mod overrides;
mod parsed_inputs;
mod problem;
mod replicas;
mod restore;
mod scheduled;
mod state;
mod sync;
mod upkeep;
mod workload_ref;

pub use annotations::{Annotations, Unknown};
pub use change::{Adoption, Cause, Change, ChangeKind};
pub use context::{Decision, DecisionContext};
pub use counts::{started, stopped, woken};
pub use decide::decide;
pub use event_note::{EventNote, Reason};
pub use fingerprint::Fingerprint;
pub use inputs::{Inputs, Origin};
pub use keys::{ERROR, Key, Label, OVERRIDE_BEGAN, Prefix, PrefixError};
pub use kind::Kind;
pub use labels::Labels;
pub use memory::Memory;
pub use observed::Observed;
pub use overdue::{Duty, OVERDUE_GRACE, Overdue};
pub use override_command::{Annotation, OverrideCommand, OverrideError};
pub use overrides::{Override, Overrides, Pause};
pub use parsed_inputs::{ParsedInputs, ScheduleSpec, read};
pub use problem::{InvalidSchedule, Problem, ProblemKind};
pub use replicas::{Replicas, ReplicasError};
pub use restore::{NotRestored, restored};
pub use state::{Phase, State};
pub use workload_ref::WorkloadRef;
