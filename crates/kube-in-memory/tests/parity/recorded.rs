//! Recorded responses, and the differences of others from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::table::Case;

/// The responses to the cases of one file.
#[derive(Default)]
pub struct Recorded(BTreeMap<String, Vec<Value>>);

impl Recorded {
    pub fn read(file: &str) -> Self {
        let text = fs::read_to_string(path(file)).unwrap_or_else(|_| "{}".into());
        Self(serde_json::from_str(&text).unwrap())
    }

    pub fn answers(&self, case: &Case) -> &[Value] {
        self.0.get(case.name).map_or(&[], Vec::as_slice)
    }

    pub fn insert(&mut self, case: &Case, answers: Vec<Value>) {
        let before = self.0.insert(case.name.to_owned(), answers);
        assert!(before.is_none(), "two cases are named {:?}", case.name);
    }

    /// One response per line, for readable diffs.
    pub fn write(&self, file: &str) {
        let mut text = String::from("{");
        for (index, (name, answers)) in self.0.iter().enumerate() {
            let _ = write!(text, "{}\n{name:?}: [", if index == 0 { "" } else { "," });
            for (index, answer) in answers.iter().enumerate() {
                let _ = write!(text, "{}\n  {answer}", if index == 0 { "" } else { "," });
            }
            text.push_str("\n]");
        }
        text.push_str("\n}\n");
        fs::write(path(file), text).unwrap();
    }
}

fn path(file: &str) -> PathBuf {
    PathBuf::from(super::RECORDED).join(format!("{file}.json"))
}

/// The error lists each field that differs, below its request.
pub fn compare(case: &Case, recorded: &[Value], found: &[Value]) -> Result<(), String> {
    if recorded.is_empty() {
        return Err(format!(
            "{}: the response of the real server is not recorded",
            case.name
        ));
    }
    let mut report = String::new();
    for (index, step) in case.steps.iter().enumerate() {
        let at = |answers: &[Value]| answers.get(index).cloned().unwrap_or_default();
        let mut differences = Vec::new();
        differ("", &at(recorded), &at(found), &mut differences);
        if !differences.is_empty() {
            let _ = writeln!(report, "{}: {} {}", case.name, step.method, step.path);
            differences
                .iter()
                .for_each(|difference| report.push_str(difference));
        }
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report)
    }
}

fn differ(path: &str, recorded: &Value, found: &Value, differences: &mut Vec<String>) {
    match (recorded, found) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let path = format!("{path}.{key}");
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differ(&path, left, right, differences),
                    // A null field differs from a missing one.
                    (left, right) => {
                        let shown =
                            |it: Option<&Value>| it.map_or("nothing".into(), Value::to_string);
                        differences.push(difference(&path, &shown(left), &shown(right)));
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differ(&format!("{path}[{index}]"), left, right, differences);
            }
        }
        _ if recorded == found => {}
        _ => differences.push(difference(path, &recorded.to_string(), &found.to_string())),
    }
}

fn difference(path: &str, recorded: &str, found: &str) -> String {
    format!("  {path}\n    recorded {recorded}\n    found    {found}\n")
}
