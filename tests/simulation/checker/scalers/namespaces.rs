//! The Namespaces that a process has observed.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::checker::objects::texts::{has_schedule, under_prefix};

type Texts = BTreeMap<String, String>;

/// The Namespaces that one process has observed.
#[derive(Default)]
pub struct Namespaces {
    known: HashMap<String, (Texts, u64)>,
    /// The watches without a complete list: each of one Namespace, or one watch of all.
    awaited: Vec<Option<String>>,
    /// The default schedule, which workloads without their own and without an inherited schedule follow.
    flag: Texts,
    /// Whether `--namespace-defaults=false` is set.
    are_ignored: bool,
}

impl Namespaces {
    /// A process that has observed none of the Namespaces with these names, or of all Namespaces if `names`
    /// is empty.
    pub fn of(names: &[String], flag: Texts) -> Self {
        let mut awaited: Vec<_> = names.iter().cloned().map(Some).collect();
        if awaited.is_empty() {
            awaited.push(None);
        }
        Self {
            awaited,
            flag,
            ..Self::default()
        }
    }

    /// A process with `--namespace-defaults=false`.
    pub fn ignored(flag: Texts) -> Self {
        Self {
            flag,
            are_ignored: true,
            ..Self::default()
        }
    }

    /// Whether the process watches Namespaces.
    pub const fn are_watched(&self) -> bool {
        !self.are_ignored
    }

    /// Whether all Namespaces were observed.
    pub fn are_known(&self) -> bool {
        self.awaited.is_empty()
    }

    /// The list of one watch is complete.
    pub fn listed(&mut self, one: Option<&str>) {
        self.awaited.retain(|it| it.as_deref() != one);
    }

    pub fn defaults(&self, namespace: &str) -> Texts {
        let none = (Texts::new(), 0);
        self.inherited(&self.known.get(namespace).unwrap_or(&none).0)
    }

    /// The annotations that workloads inherit from a Namespace with these annotations. The default schedule
    /// of the controller has the lowest precedence.
    pub fn inherited(&self, annotations: &Texts) -> Texts {
        let mut all = annotations.clone();
        if self.are_ignored {
            all.clear();
        }
        if !has_schedule(&all) {
            all.extend(self.flag.clone());
        }
        all
    }

    /// The process observes a Namespace. Returns its name and annotations if they changed.
    pub fn observe(&mut self, value: &Value, version: u64) -> Option<(String, Texts)> {
        let name = value["metadata"]["name"].as_str()?.to_owned();
        let texts = under_prefix(&value["metadata"]);
        let known = self.known.entry(name.clone()).or_default();
        if version < known.1 {
            return None;
        }
        let is_news = known.0 != texts;
        *known = (texts.clone(), version);
        is_news.then(|| (name, self.inherited(&texts)))
    }
}
