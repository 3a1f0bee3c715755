//! What was found, and where.

use super::rule::LintRule;
use crate::manifest::{self, Severity};

/// One thing that a rule found.
pub type Finding = manifest::Finding<LintRule>;

/// Everything that was found, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many workloads were looked at; one that is given twice counts once.
    pub workloads: usize,
    /// In how many files.
    pub files: usize,
    /// Whether nothing that was looked at has a schedule, or was meant to.
    pub has_no_schedule: bool,
    /// How many findings an annotation suppressed.
    pub suppressed: usize,
}

impl Report {
    /// Leaves out what is less bad than `least`.
    pub fn keep(&mut self, least: Severity) {
        self.findings.retain(|it| it.rule.severity() <= least);
    }

    /// Whether something is as bad as that, or worse.
    pub fn is_as_bad_as(&self, severity: Severity) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|it| it.rule.severity() <= severity)
    }

    /// How many findings are as bad as that.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings.filter(|it| it.rule.severity() == severity).count()
    }
}
