//! The effect of a write on an on/off field, only according to `docs/reference/kinds.md` and
//! `operator-kinds.md`: a stop saves the previous value, a start restores it (also if it was missing), and no
//! other write changes the field.

use serde_json::{Value, json};

use crate::{
    checker::{objects::object::Object, rules::outcome::WriteKind},
    scenario::kinds::{Switch, json_of},
};

/// Checks a write to an object with an on/off field. `found` is the value before the last stop.
pub fn check(
    old: &Object,
    new: &Object,
    kind: WriteKind,
    held: Option<&Value>,
) -> Result<(), String> {
    let Some(switch) = old.kind.switch else {
        return Ok(());
    };
    let saved = old.saved_value.as_deref().filter(|_| switch.is_saved);
    let (members, labels) = if new.replicas < old.replicas {
        // `enforce` reverts a value that was set after the stop, and does not change the label.
        let stays = saved.filter(|_| kind == WriteKind::Enforce);
        let label = stays.map_or_else(|| label_of(switch, &old.switch), str::to_owned);
        (vec![stopped(switch, old)], vec![Some(label)])
    } else if new.replicas > old.replicas {
        let known = saved.map(|label| restored(switch, &old.switch, label));
        let known = known.filter(|member| !switch.is_off(member));
        let started = with(switch, &old.switch, json_of(switch.started));
        let unknown = || held.cloned().into_iter().chain([started]).collect();
        (known.map_or_else(unknown, |it| vec![it]), vec![None])
    } else {
        let is_held_down = new.state.saved > Some(0);
        let kept = old.saved_value.clone();
        let remembered = held.map(|member| label_of(switch, member));
        let labels = match (is_held_down, kept) {
            (true, Some(kept)) => vec![Some(kept)],
            (true, None) => vec![remembered, None],
            (false, kept) => vec![kept, None],
        };
        (vec![old.switch.clone()], labels)
    };
    if !members.contains(&new.switch) {
        let (old, new) = (&old.switch, &new.switch);
        return Err(format!("the switch {old} became {new}, not {members:?}"));
    }
    if switch.is_saved && !labels.contains(&new.saved_value) {
        let (kept, all) = (&new.saved_value, labels);
        return Err(format!("the label saves {kept:?}, not one of {all:?}"));
    }
    Ok(())
}

/// The value of the on/off field that this write replaced, if it is a stop.
pub fn held(old: &Object, new: &Object) -> Option<Value> {
    let switch = old.kind.switch.filter(|_| new.replicas < old.replicas)?;
    let label = label_of(switch, &old.switch);
    let is_kept = !switch.is_saved || new.saved_value == Some(label);
    is_kept.then(|| old.switch.clone())
}

/// The member that contains the field, after a stop.
fn stopped(switch: &Switch, old: &Object) -> Value {
    let in_force = old.in_force();
    let count = in_force.get("stop-replicas").map_or("0", |it| it.trim());
    let off = switch.off.map_or_else(|| json!(count), json_of);
    with(switch, &old.switch, off)
}

/// The member with this value in the field, otherwise unchanged.
fn with(switch: &Switch, member: &Value, value: Value) -> Value {
    let Some(inner) = switch.inner else {
        return value;
    };
    let mut member = member.clone();
    member[inner] = value;
    member
}

/// The label that saves a value: `absent` if the value is missing, `absent.1` if also the member that would
/// contain it is missing.
fn label_of(switch: &Switch, member: &Value) -> String {
    match switch.value_in(member) {
        Value::Null if member.is_null() && switch.inner.is_some() => "absent.1".to_owned(),
        Value::Null => "absent".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The member after a start that restores the value in the label.
fn restored(switch: &Switch, member: &Value, label: &str) -> Value {
    if !label.starts_with("absent") {
        let is_flag = matches!(label, "true" | "false");
        let value = if is_flag {
            label.parse::<bool>().map(Value::from).unwrap()
        } else {
            json!(label)
        };
        return with(switch, member, value);
    }
    let Some(inner) = switch.inner else {
        return Value::Null;
    };
    let mut member = member.clone();
    let members = member.as_object_mut().unwrap();
    members.remove(inner);
    if members.is_empty() && label == "absent.1" {
        return Value::Null;
    }
    member
}
