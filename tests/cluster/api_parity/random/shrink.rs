//! Shrinks a scenario that shows a difference.

use serde_json::Value;

use super::scenario::RandomScenario;

/// Removes one part after the other while `differs` still returns true.
pub fn shrink(
    mut scenario: RandomScenario,
    differs: impl Fn(&RandomScenario) -> bool,
) -> RandomScenario {
    while let Some(less) = lesser(&scenario).into_iter().find(&differs) {
        scenario = less;
    }
    scenario
}

fn lesser(scenario: &RandomScenario) -> Vec<RandomScenario> {
    let mut all = Vec::new();
    for index in 0..scenario.patches.len() {
        let mut less = scenario.clone();
        less.patches.remove(index);
        all.push(less);
        for part in 0..scenario.patches[index].len() {
            let mut less = scenario.clone();
            less.patches[index] = scenario.patches[index].without(part);
            all.push(less);
        }
    }
    for path in [
        "/metadata/annotations",
        "/metadata/labels",
        "/metadata",
        "/spec",
    ] {
        let keys = scenario.object.pointer(path).and_then(Value::as_object);
        for key in keys.into_iter().flatten().map(|(key, _)| key) {
            if matches!(key.as_str(), "name" | "selector" | "template") {
                continue;
            }
            let mut less = scenario.clone();
            let parent = less.object.pointer_mut(path).unwrap();
            parent.as_object_mut().unwrap().remove(key);
            all.push(less);
        }
    }
    all
}
