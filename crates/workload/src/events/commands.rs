//! The commands that messages suggest.

use dayshift_text::shell_word;

use crate::{Prefix, WorkloadRef};

/// The `dayshift sync` command for this object.
pub(super) fn sync_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!("dayshift sync {}{}", object.argument(), prefix.flag())
}

/// The `dayshift restore` command for this object, which restores its saved count.
pub fn restore_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!("dayshift restore {}{}", object.argument(), prefix.flag())
}

/// The `kubectl describe` command for this object.
pub fn describe_command(object: &WorkloadRef) -> String {
    let (kind, name) = (object.kind.unambiguous(), &object.name);
    let name = format!("{kind}/{name}");
    let (name, namespace) = (shell_word(&name), shell_word(&object.namespace));
    format!("kubectl describe {name} -n {namespace}")
}

/// The `dayshift wake` command for this object, for two hours.
pub(super) fn wake_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!(
        "dayshift wake {} --for 2h{}",
        object.argument(),
        prefix.flag()
    )
}

/// The `dayshift wake` command for several objects in one namespace, for two hours.
pub(super) fn wake_all_command(objects: &[&WorkloadRef], prefix: &Prefix) -> String {
    let names = objects.iter().map(|object| object.kind_and_name());
    let names = names.collect::<Vec<_>>().join(" ");
    let namespace = objects.first().map_or("", |object| &object.namespace);
    format!(
        "dayshift wake {names} -n {namespace} --for 2h{}",
        prefix.flag()
    )
}

/// The `dayshift wake` command for a whole namespace, for two hours.
pub(super) fn wake_namespace_command(namespace: &str, prefix: &Prefix) -> String {
    format!("dayshift wake ns/{namespace} --for 2h{}", prefix.flag())
}
