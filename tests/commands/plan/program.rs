//! Helpers that run `dayshift plan`.

use serde_json::Value;

use crate::program::{Ended, dayshift_with};

impl Ended {
    /// The boundaries of the only workload: time, action, and count or `-`.
    pub(crate) fn boundaries(&self) -> Vec<String> {
        let plan = self.json();
        let workloads = plan["workloads"].as_array().unwrap();
        assert_eq!((self.status, workloads.len()), (0, 1), "{self:?}");
        let line = |it: &Value| {
            let count = it["replicas"].as_u64();
            let count = count.map_or_else(|| "-".to_owned(), |it| it.to_string());
            format!(
                "{} {} {count}",
                it["at"].as_str().unwrap(),
                it["action"].as_str().unwrap()
            )
        };
        workloads[0]["boundaries"]
            .as_array()
            .unwrap()
            .iter()
            .map(line)
            .collect()
    }
}

/// Runs `plan` with this standard input, as JSON unless the arguments contain another format.
pub(crate) fn plan_of(args: &[&str], input: &str) -> Ended {
    plan_with(&[], args, input)
}

/// With these variables.
pub(crate) fn plan_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> Ended {
    let output: &[_] = if args.contains(&"-o") {
        &[]
    } else {
        &["-o", "json"]
    };
    dayshift_with(variables, &[&["plan"], args, output].concat(), input)
}

pub(crate) fn plan(args: &[&str]) -> Ended {
    plan_of(args, "")
}

/// A Deployment `web` with these annotations.
pub(crate) fn web(lines: &[&str]) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    {}\n",
        lines.join("\n    ")
    )
}
