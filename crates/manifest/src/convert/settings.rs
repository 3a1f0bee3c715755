//! How files are converted.

use chrono::{DateTime, Utc};
use dayshift_workload::Prefix;

use super::times::timespan::SpanDefaults;

/// Converts the schedules of other tools in files.
#[derive(Clone, Debug)]
pub struct Converter {
    /// What is over by then is left out.
    pub now: DateTime<Utc>,
    /// The prefix of the annotations that are written.
    pub prefix: Prefix,
    /// Where objects are that name no namespace.
    pub namespace: String,
    /// The other tool's defaults of time spans.
    pub defaults: SpanDefaults,
    /// The other tool's flags, as annotations such as `uptime`; they are for every Namespace, but
    /// for those that it has of its own.
    pub flags: Vec<(String, String)>,
    /// The Namespaces that the flags are for besides those among the files.
    pub flagged: Vec<String>,
    /// Whether the other tool's annotations stay.
    pub keeps: bool,
}
