//! Helpers that run `dayshift lint`.

use serde_json::Value;

use crate::program::dayshift_with;
pub(crate) use crate::program::web;

/// The exit status, standard output and standard error with all rules and this standard input.
pub fn lint_of(args: &[&str], input: &str) -> (i32, String, String) {
    lint_with(&[], args, input)
}

/// With only these variables in the environment.
pub fn lint_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> (i32, String, String) {
    let args: Vec<_> = [
        "lint",
        "--from",
        "2026-11-20",
        "--enable",
        "replicas-in-manifest",
    ]
    .iter()
    .chain(args)
    .copied()
    .collect();
    let ended = dayshift_with(variables, &args, input);
    (ended.status, ended.out, ended.err)
}

/// The findings in order, as `rule line:column`.
pub fn found(text: &str) -> Vec<String> {
    found_with(&[], text)
}

/// With these arguments.
pub fn found_with(args: &[&str], text: &str) -> Vec<String> {
    let args: Vec<_> = ["-o", "json", "-"].iter().chain(args).copied().collect();
    let (_, out, err) = lint_of(&args, text);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{text}: {err}"));
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|it| {
            format!(
                "{} {}:{}",
                it["rule"].as_str().unwrap(),
                it["place"]["line"],
                it["place"]["column"]
            )
        })
        .collect()
}
