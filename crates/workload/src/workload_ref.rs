//! A reference to one object: kind, namespace, name and UID. Also the commands that messages suggest
//! for it.

use std::{fmt, sync::Arc};

use dayshift_text::shell_word;

use crate::{Prefix, kinds::kind::Kind};

/// A reference to one object. The UID distinguishes it from a later object of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadRef {
    /// The kind.
    pub kind: Kind,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The UID. An object that is deleted and created again gets another one.
    pub uid: Arc<str>,
}

impl WorkloadRef {
    /// The arguments of a command: `deploy/web -n dev`. Names in files can have any content, so they are quoted
    /// for a shell if necessary.
    pub fn argument(&self) -> String {
        let name = self.kind_and_name();
        format!("{} -n {}", shell_word(&name), shell_word(&self.namespace))
    }

    /// `deploy/web`
    pub fn kind_and_name(&self) -> String {
        format!("{}/{}", self.kind.short_name(), self.name)
    }

    /// `web`, or `sts/db`: the kind is omitted for a Deployment.
    pub fn short_name(&self) -> String {
        if self.kind == Kind::DEFAULT_FOR_NAMES {
            self.name.to_string()
        } else {
            self.kind_and_name()
        }
    }

    /// `dev/web`, or `dev/sts/db`: the argument of a dayshift command.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.short_name())
    }
}

/// `dev/web`
impl fmt::Display for WorkloadRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The `dayshift sync` command for this object.
pub(crate) fn sync_command(object: &WorkloadRef, prefix: &Prefix) -> String {
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
pub(crate) fn wake_command(object: &WorkloadRef, prefix: &Prefix) -> String {
    format!(
        "dayshift wake {} --for 2h{}",
        object.argument(),
        prefix.flag()
    )
}

/// The `dayshift wake` command for several objects in one namespace, for two hours.
pub(crate) fn wake_all_command(objects: &[&WorkloadRef], prefix: &Prefix) -> String {
    let names = objects.iter().map(|object| object.kind_and_name());
    let names = names.collect::<Vec<_>>().join(" ");
    let namespace = objects.first().map_or("", |object| &object.namespace);
    format!(
        "dayshift wake {names} -n {namespace} --for 2h{}",
        prefix.flag()
    )
}

/// The `dayshift wake` command for a whole namespace, for two hours.
pub(crate) fn wake_namespace_command(namespace: &str, prefix: &Prefix) -> String {
    format!("dayshift wake ns/{namespace} --for 2h{}", prefix.flag())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_a_command_are_quoted_for_a_shell() {
        for (namespace, name, expected) in [
            ("dev", "web-1.a", "deploy/web-1.a -n dev"),
            ("$(id)", "web; id", "'deploy/web; id' -n '$(id)'"),
            ("a'b", "`id`", r#"'deploy/`id`' -n "a'b""#),
        ] {
            let object = WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: namespace.into(),
                name: name.into(),
                uid: "".into(),
            };
            assert_eq!(object.argument(), expected);
        }
    }
}
