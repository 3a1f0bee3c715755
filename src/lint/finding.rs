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
