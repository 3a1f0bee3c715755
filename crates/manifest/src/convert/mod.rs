//! Other tools' schedules in dayshift's words.
//!
//! A [`Converter`] reads files and answers with a [`Conversion`]: new texts, in which only what has
//! to change is changed, and what there is to say. What has no equivalent stays as it is, and is said.
//! `docs/guides/migrate.md` has the rules, and which versions of the other tools they were read from.

mod conversion;
mod converter;
mod document;
mod downscaler;
mod finding;
mod settings;
mod times;
mod tools;
mod work;

pub use conversion::{Change, Conversion, Target};
pub use finding::{Finding, ObjectName, Topic};
pub use settings::Converter;
pub use times::timespan::SpanDefaults;
