//! The plans of several objects together.

use std::collections::HashMap;

use serde::Serialize;

use super::workload_plan::{PlannedProblem, WorkloadPlan};
use crate::workload::Origin;

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

    /// Whatever has problems: objects with those of their own, and Namespaces with those that
    /// objects inherit, each of them once.
    pub fn refused(&self) -> Vec<Refused<'_>> {
        let mut refused: Vec<Refused<'_>> = Vec::new();
        let mut namespaces: HashMap<&str, usize> = HashMap::new();
        for workload in self.workloads.iter().filter(|it| !it.problems().is_empty()) {
            let is_own = |it: &&PlannedProblem| it.origin == Origin::Own;
            let own: Vec<_> = workload.problems().iter().filter(is_own).collect();
            let inherited = workload.problems().iter().filter(|it| !is_own(it));
            for problem in inherited {
                let next = refused.len();
                let at = *namespaces.entry(workload.namespace()).or_insert(next);
                if at == next {
                    refused.push(Refused {
                        name: format!("Namespace {}", workload.namespace()),
                        origin: Origin::Namespace,
                        problems: Vec::new(),
                    });
                }
                if let Some(of) = refused.get_mut(at)
                    && !of.problems.contains(&problem)
                {
                    of.problems.push(problem);
                }
            }
            if !own.is_empty() {
                refused.push(Refused {
                    name: workload.to_string(),
                    origin: Origin::Own,
                    problems: own,
                });
            }
        }
        refused
    }
}

/// An object or a Namespace whose annotations are at fault.
#[derive(Clone, Debug)]
pub struct Refused<'p> {
    /// What it is called, such as `team/web` or `Namespace team`.
    pub name: String,
    /// Whether it is the object itself or its Namespace.
    pub origin: Origin,
    /// What is wrong; never empty.
    pub problems: Vec<&'p PlannedProblem>,
}
