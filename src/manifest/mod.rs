//! Files of manifests: the Deployments in them, and where in the file everything stands.
//!
//! A [`Search`] opens [`Source`]s, which are read into [`Workload`]s. Values mean what they mean to kubectl, so
//! that what is shown of a file is what applying it does. What a stranger's file can cost is
//! bounded: too large, too deep or too often repeated is an error as a missing quote is.

mod annotation;
mod contents;
mod error;
mod examples;
mod ignore_rules;
mod json_stream;
mod location;
mod misplaced_key;
mod node;
mod objects;
mod other;
mod parse;
mod scalar;
mod scope;
mod search;
mod source;
mod unrendered;
mod workload;

pub use annotation::Annotation;
pub use contents::Contents;
pub use error::{MAX_BYTES, OpenError, SyntaxError};
pub use examples::EXAMPLES;
pub use location::Location;
pub use misplaced_key::{MisplacedKey, Site, is_of_other_tool};
pub use other::{HpaTarget, Other};
pub use search::{Opened, STANDARD_INPUT, Search};
pub use source::Source;
pub use unrendered::Unrendered;
pub use workload::Workload;
