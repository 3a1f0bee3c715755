//! Files of manifests: the Deployments in them, and where in the file everything stands.
//!
//! A [`Search`] opens [`Source`]s, which are read into [`Workload`]s. Values mean what they mean to kubectl, so
//! that what is shown of a file is what applying it does. What a stranger's file can cost is
//! bounded: too large, too deep or too often repeated is an error as a missing quote is.

mod annotation;
mod annotation_map;
mod count;
mod delivery;
mod error;
mod examples;
mod files;
mod inheritance;
mod misplaced_key;
mod namespace;
mod objects;
mod other;
mod pod_template;
mod scale_target;
mod scope;
mod tree;
mod unrendered;
mod workload;

pub use annotation::Annotation;
pub use delivery::{Delivery, PutsBack};
pub use error::{MAX_BYTES, OpenError, SyntaxError};
pub use examples::EXAMPLES;
pub use files::contents::Contents;
pub use files::search::{Opened, STANDARD_INPUT, Search};
pub use files::source::Source;
pub use inheritance::inherit;
pub use misplaced_key::{MisplacedKey, Site, is_of_other_tool};
pub use namespace::Namespace;
pub use other::Other;
pub use scale_target::{ScaleTarget, ScaledBy};
pub use tree::location::Location;
pub(crate) use tree::node::{Entry, Node};
pub(crate) use tree::scalar::Scalar;
pub use unrendered::Unrendered;
pub use workload::Workload;
