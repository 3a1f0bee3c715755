//! What comes of a conversion.

use super::finding::{Finding, ObjectName};
use crate::manifest::{Location, Severity};

/// A change of one object, or of some that are not among the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which objects.
    pub target: Target,
    /// Which of the sources it is made in, and where the object stands; `None` for an object that
    /// is not among the files.
    pub place: Option<(usize, Location)>,
    /// Annotations that come, under their full names, with their texts.
    pub set: Vec<(String, String)>,
    /// Annotations that go.
    pub remove: Vec<String>,
    /// Labels that come.
    pub labels: Vec<(String, String)>,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// One object.
    Object(ObjectName),
    /// All objects of some kinds in a namespace.
    All {
        /// As kubectl takes them, such as `deployments,statefulsets`.
        kinds: String,
        /// The namespace.
        namespace: String,
        /// The label selector; `None` for all.
        selector: Option<String>,
        /// The field selector, which is about names; `None` for any name.
        field_selector: Option<String>,
    },
}

/// What comes of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    /// The new text of each source; `None` where it stays as it is.
    pub texts: Vec<Option<String>>,
    /// Every change, in the order of the files; those of objects elsewhere come last.
    pub changes: Vec<Change>,
    /// What there is to say, in the order of the files.
    pub findings: Vec<Finding>,
}

impl Conversion {
    /// How many findings are of that severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|it| it.rule.severity() == severity).count()
    }
}
