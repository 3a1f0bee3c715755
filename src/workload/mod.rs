//! One object: what its annotations ask for, what its labels remember, and [`decide`].
//!
//! Nothing here knows Kubernetes' client, a runtime or a clock: the same inputs give the same
//! decision, which is what the tables and the oracle of the tests rest on.

mod change;
mod counts;
mod decide;
mod fingerprint;
mod follow;
mod inputs;
mod instruction;
mod keys;
mod labels;
mod memory;
mod notice;
mod observed;
mod overrides;
mod problem;
mod reading;
mod replicas;
mod restore;
mod situation;
mod state;
mod upkeep;

pub use change::{Adoption, Cause, Change, ChangeKind};
pub use counts::{started, stopped, woken};
pub use decide::decide;
pub use fingerprint::Fingerprint;
pub use inputs::{Inputs, Unknown};
pub use instruction::{Annotation, Instruction, Obstacle};
pub use keys::{ERROR, Key, Label, OVERRIDE_BEGAN, Prefix, PrefixError};
pub use labels::Labels;
pub use memory::Memory;
pub use notice::{Notice, Reason};
pub use observed::{ObjectRef, Observed};
pub use overrides::{Override, Overrides, Pause};
pub use problem::{Problem, ProblemKind, Refusal};
pub use reading::{Reading, Timetable, read};
pub use replicas::{Replicas, ReplicasError};
pub use restore::{NotRestored, restored};
pub use situation::{Decision, Situation};
pub use state::{Phase, State};
