//! The kinds of objects in scenarios, by `docs/reference/kinds.md` and `operator-kinds.md`.

use serde_json::{Value, json};

/// A kind as the server defines it.
#[derive(Debug, PartialEq, Eq)]
pub struct KindInfo {
    pub name: &'static str,
    pub api_version: &'static str,
    /// The path of the API group and version.
    pub root: &'static str,
    pub plural: &'static str,
    /// A member that only the specs of this kind have, compared with the kinds before it in [`ALL`].
    pub mark: &'static str,
    /// Its on/off field; `None` if it has `spec.replicas`.
    pub switch: Option<&'static Switch>,
}

/// The on/off field that an object has instead of a count. Values are JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Switch {
    /// Whether it is an annotation, as opposed to a field of `spec`.
    pub is_annotation: bool,
    pub member: &'static str,
    /// The member inside it that contains the value, if the field is nested.
    pub inner: Option<&'static str>,
    /// The value that a stop writes; `None` if `stop-replicas` specifies it, in which case any string means
    /// off.
    pub off: Option<&'static str>,
    /// The values of the member that users write while the workload runs.
    pub on: &'static [&'static str],
    /// The value that a start writes if no value is saved.
    pub started: &'static str,
    /// Whether the label `saved-value` saves the previous value at a stop.
    pub is_saved: bool,
    /// Annotations that do not apply to the kind.
    pub refuses: &'static [&'static str],
}

const COUNTS: &[&str] = &["replicas", "stop-replicas", "scale"];

pub const DEPLOYMENT: KindInfo = KindInfo {
    name: "Deployment",
    api_version: "apps/v1",
    root: "/apis/apps/v1",
    plural: "deployments",
    mark: "template",
    switch: None,
};

pub const STATEFUL_SET: KindInfo = KindInfo {
    name: "StatefulSet",
    plural: "statefulsets",
    mark: "serviceName",
    ..DEPLOYMENT
};

pub const CRON_JOB: KindInfo = KindInfo {
    name: "CronJob",
    api_version: "batch/v1",
    root: "/apis/batch/v1",
    plural: "cronjobs",
    mark: "jobTemplate",
    switch: Some(&Switch {
        on: &["false"],
        is_saved: false,
        member: "suspend",
        ..PAUSE
    }),
};

pub const SCALED_OBJECT: KindInfo = KindInfo {
    name: "ScaledObject",
    api_version: "keda.sh/v1alpha1",
    root: "/apis/keda.sh/v1alpha1",
    plural: "scaledobjects",
    mark: "scaleTargetRef",
    switch: Some(&Switch {
        is_annotation: true,
        member: "autoscaling.keda.sh/paused-replicas",
        inner: None,
        off: None,
        on: &["null"],
        started: "null",
        is_saved: false,
        refuses: &["replicas", "scale"],
    }),
};

const PAUSE: Switch = Switch {
    is_annotation: false,
    member: "pause",
    inner: None,
    off: Some("true"),
    on: &["null", "false"],
    started: "false",
    is_saved: true,
    refuses: COUNTS,
};

/// A built-in kind definition whose switch is a field.
pub const XTRA_DB: KindInfo = KindInfo {
    name: "PerconaXtraDBCluster",
    api_version: "pxc.percona.com/v1",
    root: "/apis/pxc.percona.com/v1",
    plural: "perconaxtradbclusters",
    mark: "crVersion",
    switch: Some(&PAUSE),
};

/// A built-in kind definition whose switch is an annotation.
pub const CLOUD_NATIVE_PG: KindInfo = KindInfo {
    name: "Cluster",
    api_version: "postgresql.cnpg.io/v1",
    root: "/apis/postgresql.cnpg.io/v1",
    plural: "clusters",
    mark: "instances",
    switch: Some(&Switch {
        is_annotation: true,
        member: "cnpg.io/hibernation",
        off: Some("\"on\""),
        on: &["null", "\"off\""],
        started: "null",
        ..PAUSE
    }),
};

/// The kind that [`KIND_FILE`] defines.
pub const WIDGET: KindInfo = KindInfo {
    name: "Widget",
    api_version: "example.com/v1",
    root: "/apis/example.com/v1",
    plural: "widgets",
    mark: "size",
    switch: Some(&Switch {
        member: "power",
        inner: Some("mode"),
        off: Some("\"Off\""),
        on: &[
            "null",
            r#"{"source": "grid"}"#,
            r#"{"mode": "Eco"}"#,
            r#"{"mode": "On", "source": "grid"}"#,
        ],
        started: "\"On\"",
        ..PAUSE
    }),
};

/// The contents of the `--kind-file`.
pub const KIND_FILE: &str = "
- resource: widgets.example.com
  kind: Widget
  field: spec.power.mode
  stopped: \"Off\"
  running: \"On\"
";

/// The kinds with an on/off field.
pub const SWITCHES: [&KindInfo; 5] = [
    &CRON_JOB,
    &SCALED_OBJECT,
    &XTRA_DB,
    &CLOUD_NATIVE_PG,
    &WIDGET,
];

pub const ALL: [&KindInfo; 7] = [
    &CRON_JOB,
    &SCALED_OBJECT,
    &XTRA_DB,
    &CLOUD_NATIVE_PG,
    &WIDGET,
    &STATEFUL_SET,
    &DEPLOYMENT,
];

impl KindInfo {
    /// The path of an object.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let Self { root, plural, .. } = self;
        format!("{root}/namespaces/{namespace}/{plural}/{name}")
    }

    /// The group, version, plural and name, if the kind has a CustomResourceDefinition.
    pub fn custom(&self) -> Option<[&'static str; 4]> {
        let (group, version) = self.api_version.split_once('/')?;
        let is_custom = group.contains('.');
        is_custom.then_some([group, version, self.plural, self.name])
    }

    /// The kind of an object with this spec; items of lists and watches do not contain their kind.
    pub fn of_spec(spec: &Value) -> &'static Self {
        let is_it = |row: &&Self| !spec[row.mark].is_null();
        ALL.into_iter().find(is_it).unwrap_or(&DEPLOYMENT)
    }

    /// The count of an object. With an on/off field, it is 1 while the object runs, else 0.
    pub fn count_of(&self, object: &Value) -> u32 {
        match self.switch {
            Some(switch) => u32::from(!switch.is_off(&switch.member_of(object))),
            None => u32::try_from(object["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap(),
        }
    }

    /// The merge patch that a user sends to set a count.
    pub fn patch(&self, count: u32) -> Value {
        let Some(switch) = self.switch else {
            return json!({"spec": {"replicas": count}});
        };
        let mut member = switch.written(count);
        if let (Some(inner), Some(members)) = (switch.inner, member.as_object_mut()) {
            members.entry(inner).or_insert(Value::Null);
        }
        switch.place(&member)
    }

    /// Sets the count in a manifest.
    pub fn set(&self, manifest: &mut Value, count: u32) {
        match self.switch {
            Some(switch) => switch.set(manifest, switch.written(count)),
            None => manifest["spec"]["replicas"] = json!(count),
        }
    }

    /// Copies the count of one manifest to another.
    pub fn set_as(&self, manifest: &mut Value, other: &Value) {
        match self.switch {
            Some(switch) => switch.set(manifest, switch.member_of(other)),
            None => manifest["spec"]["replicas"] = other["spec"]["replicas"].clone(),
        }
    }
}

impl Switch {
    /// The member of an object that contains the value; null if missing.
    pub fn member_of(&self, object: &Value) -> Value {
        let holder = if self.is_annotation {
            &object["metadata"]["annotations"]
        } else {
            &object["spec"]
        };
        holder[self.member].clone()
    }

    /// The value in that member; null if missing.
    pub fn value_in<'a>(&self, member: &'a Value) -> &'a Value {
        self.inner.map_or(member, |inner| &member[inner])
    }

    pub fn is_off(&self, member: &Value) -> bool {
        let value = self.value_in(member);
        self.off
            .map_or(!value.is_null(), |off| *value == json_of(off))
    }

    /// The value that a user writes for this count.
    fn written(&self, count: u32) -> Value {
        if count > 0 {
            return json_of(self.on[count as usize % self.on.len()]);
        }
        let off = self.off.map_or(json!("0"), json_of);
        self.inner.map_or(off.clone(), |inner| json!({inner: off}))
    }

    fn place(&self, member: &Value) -> Value {
        let holder = json!({self.member: member});
        if self.is_annotation {
            json!({"metadata": {"annotations": holder}})
        } else {
            json!({"spec": holder})
        }
    }

    fn set(&self, manifest: &mut Value, member: Value) {
        let holder = if self.is_annotation {
            &mut manifest["metadata"]["annotations"]
        } else {
            &mut manifest["spec"]
        };
        if member.is_null() {
            if let Some(members) = holder.as_object_mut() {
                members.remove(self.member);
            }
        } else {
            holder[self.member] = member;
        }
    }
}

pub fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The kind, namespace and name of the object at a path.
pub fn object_at(path: &str) -> Option<(&'static KindInfo, &str, &str)> {
    ALL.into_iter().find_map(|kind| {
        let rest = path.strip_prefix(kind.root)?.strip_prefix("/namespaces/")?;
        let (namespace, rest) = rest.split_once('/')?;
        let name = rest.strip_prefix(kind.plural)?.strip_prefix('/')?;
        Some((kind, namespace, name))
    })
}

/// Whether a path is that of a collection of objects.
pub fn is_collection(path: &str) -> bool {
    let ends = |kind: &KindInfo| {
        path.rsplit_once('/')
            .is_some_and(|(_, end)| end == kind.plural)
    };
    ALL.into_iter().any(ends)
}
