//! The Namespaces that a process has observed.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::checker::objects::texts::{has_schedule, under_prefix};

type Texts = BTreeMap<String, String>;

/// The Namespaces as one process knows them.
#[derive(Default)]
pub struct Namespaces {
    known: HashMap<String, (Texts, u64)>,
    /// The watches that have not listed everything yet: of one Namespace, or of all.
    awaited: Vec<Option<String>>,
    /// The default schedule of workloads that neither have nor inherit one.
    flag: Texts,
    /// Whether they are no defaults, with `--namespace-defaults=false`.
    are_ignored: bool,
}

impl Namespaces {
    /// None of these is known yet; all Namespaces if `names` is empty.
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

    /// The same for a process with `--namespace-defaults=false`.
    pub fn ignored(flag: Texts) -> Self {
        Self {
            flag,
            are_ignored: true,
            ..Self::default()
        }
    }

    /// Whether they are watched.
    pub const fn are_asked_for(&self) -> bool {
        !self.are_ignored
    }

    /// Whether all of them were shown.
    pub fn are_known(&self) -> bool {
        self.awaited.is_empty()
    }

    /// One watch has shown everything.
    pub fn listed(&mut self, one: Option<&str>) {
        self.awaited.retain(|it| it.as_deref() != one);
    }

    pub fn defaults(&self, namespace: &str) -> Texts {
        let none = (Texts::new(), 0);
        self.inherited(&self.known.get(namespace).unwrap_or(&none).0)
    }

    /// The annotations that workloads inherit from these: the default schedule of the controller
    /// comes last.
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

    /// A Namespace is shown; returns its name and annotations if they changed.
    pub fn shows(&mut self, value: &Value, version: u64) -> Option<(String, Texts)> {
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
