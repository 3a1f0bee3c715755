//! Shrinks a scenario that shows a difference.

use serde_json::Value;

use super::story::Story;

/// Removes one part after the other while `differs` still returns true.
pub fn shrink(mut story: Story, differs: impl Fn(&Story) -> bool) -> Story {
    while let Some(less) = lesser(&story).into_iter().find(&differs) {
        story = less;
    }
    story
}

fn lesser(story: &Story) -> Vec<Story> {
    let mut all = Vec::new();
    for index in 0..story.patches.len() {
        let mut less = story.clone();
        less.patches.remove(index);
        all.push(less);
        for part in 0..story.patches[index].len() {
            let mut less = story.clone();
            less.patches[index] = story.patches[index].without(part);
            all.push(less);
        }
    }
    for path in [
        "/metadata/annotations",
        "/metadata/labels",
        "/metadata",
        "/spec",
    ] {
        let keys = story.object.pointer(path).and_then(Value::as_object);
        for key in keys.into_iter().flatten().map(|(key, _)| key) {
            if matches!(key.as_str(), "name" | "selector" | "template") {
                continue;
            }
            let mut less = story.clone();
            let parent = less.object.pointer_mut(path).unwrap();
            parent.as_object_mut().unwrap().remove(key);
            all.push(less);
        }
    }
    all
}
