//! The plans of several objects together.

use serde::Serialize;

use super::workload_plan::WorkloadPlan;

/// The plans of several objects.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// One for each object with a schedule or a problem.
    pub workloads: Vec<WorkloadPlan>,
}

impl Plan {
    /// Whether anything is wrong with any of them.
    pub fn has_problems(&self) -> bool {
        self.workloads.iter().any(|it| !it.problems().is_empty())
    }
}
