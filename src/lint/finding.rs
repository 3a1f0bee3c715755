//! What was found, and where.

use std::{fmt, ops::Range, sync::Arc};

use super::rule::{LintRule, Severity};
use crate::manifest::Location;

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: LintRule,
    /// What is wrong and what comes of it.
    pub message: String,
    /// What to write instead, with a right example.
    pub help: String,
    /// Which of the sources it is in.
    pub source: usize,
    /// Where in it.
    pub place: Location,
    /// The object, unless the file itself is at fault.
    pub object: Option<ObjectName>,
    /// The annotation or label, if one is at fault.
    pub quoted: Option<Quoted>,
}

/// An object of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// Such as `Deployment`.
    pub kind: Arc<str>,
    /// Its namespace; empty for what has none, such as a Namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            return write!(f, "{} {}", self.kind, self.name);
        }
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The text of an annotation or label, and the part of it that is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Its full name.
    pub name: String,
    /// Its text, without quotes and escapes.
    pub text: Box<str>,
    /// The bytes of the text that are at fault.
    pub span: Range<usize>,
    /// Whether the text stands in the file letter by letter, so that the finding's place is that
    /// of the bytes at fault and not of the whole value.
    pub verbatim: bool,
}

/// Everything that was found, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many workloads were looked at.
    pub workloads: usize,
    /// In how many files.
    pub files: usize,
    /// How many findings an annotation suppressed.
    pub suppressed: usize,
}

impl Report {
    /// Leaves out what is less bad than `least`, and what these rules find.
    pub fn keep(&mut self, least: Severity, disabled: &[LintRule]) {
        let is_kept = |it: &Finding| it.rule.severity() <= least && !disabled.contains(&it.rule);
        self.findings.retain(is_kept);
    }

    /// Whether anything should be changed; what there is to know is no problem.
    pub fn has_problems(&self) -> bool {
        self.findings.len() > self.count(Severity::Info)
    }

    /// How many findings are as bad as that.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|it| it.rule.severity() == severity).count()
    }
}
