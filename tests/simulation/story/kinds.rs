//! The kinds that objects of stories can be of.

/// A kind as the server has it.
pub struct Row {
    pub name: &'static str,
    pub api_version: &'static str,
    /// Where all of its collections are, whatever the Namespace.
    pub root: &'static str,
    pub plural: &'static str,
}

pub const DEPLOYMENT: Row = Row {
    name: "Deployment",
    api_version: "apps/v1",
    root: "/apis/apps/v1",
    plural: "deployments",
};

pub const STATEFUL_SET: Row = Row {
    name: "StatefulSet",
    plural: "statefulsets",
    ..DEPLOYMENT
};

pub const CRON_JOB: Row = Row {
    name: "CronJob",
    api_version: "batch/v1",
    root: "/apis/batch/v1",
    plural: "cronjobs",
};

pub const ALL: [&Row; 3] = [&DEPLOYMENT, &STATEFUL_SET, &CRON_JOB];

impl Row {
    /// The path of one object.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let Self { root, plural, .. } = self;
        format!("{root}/namespaces/{namespace}/{plural}/{name}")
    }
}

/// The kind, namespace and name of the object at a path.
pub fn object_at(path: &str) -> Option<(&'static Row, &str, &str)> {
    ALL.into_iter().find_map(|kind| {
        let rest = path.strip_prefix(kind.root)?.strip_prefix("/namespaces/")?;
        let (namespace, rest) = rest.split_once('/')?;
        let name = rest.strip_prefix(kind.plural)?.strip_prefix('/')?;
        Some((kind, namespace, name))
    })
}

/// Whether a path is that of a collection.
pub fn is_collection(path: &str) -> bool {
    let ends = |kind: &Row| {
        path.rsplit_once('/')
            .is_some_and(|(_, end)| end == kind.plural)
    };
    ALL.into_iter().any(ends)
}
