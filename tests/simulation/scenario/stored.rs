//! Scenarios as text. Scenarios that failed are stored with all their steps, because a change of the
//! generator changes the scenarios of all seeds.

use std::{env, fmt::Write as _, fs, path::Path};

use serde_json::{Map, Value};

use crate::scenario::definition::Scenario;

impl Scenario {
    /// JSON with a line for each step. Fields that are added later have defaults, so that stored scenarios
    /// keep their meaning.
    pub fn to_text(&self) -> String {
        let Value::Object(fields) = serde_json::to_value(self).unwrap() else {
            unreachable!("a scenario is a struct")
        };
        let (lists, rest): (Map<_, _>, Map<_, _>) =
            fields.into_iter().partition(|(_, value)| value.is_array());
        let mut text = "{".to_owned();
        for (key, value) in rest {
            write!(text, "\n  \"{key}\": {value},").unwrap();
        }
        let lists = lists.into_iter().map(|(key, list)| {
            let lines = list.as_array().into_iter().flatten();
            let lines: Vec<_> = lines.map(|line| format!("\n    {line}")).collect();
            format!("\n  \"{key}\": [{}]", lines.join(","))
        });
        text + &lists.collect::<Vec<_>>().join(",") + "\n}\n"
    }

    pub fn of_text(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }
}

/// The scenario in the file that `SIMULATION_SCENARIO` names.
pub fn asked_for() -> Option<Scenario> {
    let file = env::var("SIMULATION_SCENARIO").ok()?;
    Some(Scenario::of_text(&fs::read_to_string(file).unwrap()))
}

/// The stored scenarios, by directory and name.
pub fn regressions() -> Vec<(String, Scenario)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulation/regressions");
    let files_of = |directory: &Path| {
        fs::read_dir(directory)
            .unwrap()
            .map(|it| it.unwrap().path())
    };
    let files = files_of(&all).flat_map(|directory| files_of(&directory).collect::<Vec<_>>());
    let scenarios = files.map(|file| {
        let name = file.strip_prefix(&all).unwrap().display().to_string();
        (name, Scenario::of_text(&fs::read_to_string(file).unwrap()))
    });
    let mut scenarios: Vec<_> = scenarios.collect();
    scenarios.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(!scenarios.is_empty(), "no scenario is stored");
    scenarios
}
