//! Limits the memory for the annotations of workloads, by namespace and in total.
//!
//! The number of objects that users can create is not limited, and parsed text takes several times its
//! length in memory. If the text in a namespace exceeds its budget, the newest objects with long text are
//! rejected, and their text is dropped. If the text of all namespaces exceeds the total budget, each
//! namespace is limited to a fair share. So a namespace within its share is not affected by others.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use dayshift_workload::Observed;

use crate::ids::Id;

/// Objects with at most this many bytes of text are always accepted and not counted.
const MAX_SHORT: usize = 128;

/// The number of bytes of the annotation `inherited` that are not counted, because dayshift writes it.
const UNCOUNTED_INHERITED: usize = 1024;

/// The budget of a namespace in bytes. Equal annotations of several objects are counted once.
pub(crate) const NAMESPACE_BUDGET: usize = 512 << 10;

/// The budget of all namespaces together in bytes.
const TOTAL_BUDGET: usize = 2 << 20;

/// The age of an object: its creation time in seconds since the Unix epoch, and its UID.
type Age = (i64, Arc<str>);

/// The long texts of all namespaces.
pub(super) struct TextBudget {
    namespaces: BTreeMap<Arc<str>, NamespaceTexts>,
    objects: HashMap<Id, ObjectText>,
    /// The current limit of each namespace: its budget, or a fair share of the total budget.
    limit: usize,
    total: usize,
    /// Objects that might have been accepted or rejected since the last call of [`Self::take_changed`].
    changed: Vec<Id>,
    hashes: RandomState,
}

/// An object with long text.
#[derive(Clone, PartialEq, Eq)]
struct ObjectText {
    namespace: Arc<str>,
    text: u64,
    age: Age,
}

/// The long texts in a namespace, by hash.
#[derive(Default)]
struct NamespaceTexts {
    texts: HashMap<u64, Text>,
    /// The accepted texts, by the age of the oldest object with that text. All of them are older than the
    /// rejected texts.
    accepted: BTreeMap<Age, u64>,
    rejected: BTreeMap<Age, u64>,
    accepted_bytes: usize,
    bytes: usize,
}

/// A text, and the objects that have it.
struct Text {
    bytes: usize,
    is_accepted: bool,
    objects: BTreeMap<Age, Id>,
}

impl Default for TextBudget {
    fn default() -> Self {
        Self::new(TOTAL_BUDGET)
    }
}

impl TextBudget {
    fn new(total: usize) -> Self {
        Self {
            namespaces: BTreeMap::new(),
            objects: HashMap::new(),
            limit: NAMESPACE_BUDGET.min(total),
            total,
            changed: Vec::new(),
            hashes: RandomState::new(),
        }
    }

    /// Counts the text of an observation. Returns whether it is accepted.
    pub(super) fn observe(&mut self, id: Id, observed: &Observed, created: i64) -> bool {
        let own = observed.inputs.own();
        let inherited = observed.inherited.as_deref().map_or(0, str::len);
        let bytes = own.kept_bytes() + inherited.saturating_sub(UNCOUNTED_INHERITED);
        if bytes <= MAX_SHORT {
            self.remove(id);
            return true;
        }
        let text = self.hashes.hash_one((own, &observed.inherited));
        let object = &observed.object;
        self.set(
            id,
            ObjectText {
                namespace: Arc::clone(&object.namespace),
                text,
                age: (created, Arc::clone(&object.uid)),
            },
            bytes,
        );
        self.accepts(id)
    }

    fn set(&mut self, id: Id, entry: ObjectText, bytes: usize) {
        if self.objects.get(&id) == Some(&entry) {
            return;
        }
        self.remove(id);
        let namespace = Arc::clone(&entry.namespace);
        let account = self.namespaces.entry(Arc::clone(&namespace)).or_default();
        account.add(id, &entry, bytes, &mut self.changed);
        self.objects.insert(id, entry);
        self.apply_limit(&namespace);
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(entry) = self.objects.remove(&id) else {
            return;
        };
        if let Some(account) = self.namespaces.get_mut(&entry.namespace) {
            account.remove(&entry, &mut self.changed);
            if account.texts.is_empty() {
                self.namespaces.remove(&entry.namespace);
            }
        }
        self.apply_limit(&entry.namespace);
    }

    /// Whether the text of an object is accepted.
    pub(super) fn accepts(&self, id: Id) -> bool {
        let text = |entry: &ObjectText| {
            let texts = &self.namespaces.get(&entry.namespace)?.texts;
            texts.get(&entry.text).map(|text| text.is_accepted)
        };
        let known = self.objects.get(&id).and_then(text);
        known.unwrap_or(true)
    }

    /// Takes the objects that might have been accepted or rejected.
    pub(super) fn take_changed(&mut self) -> Vec<Id> {
        std::mem::take(&mut self.changed)
    }

    /// Accepts or rejects texts so that the limit holds: in this namespace, or in all namespaces if the
    /// limit has changed.
    fn apply_limit(&mut self, namespace: &str) {
        let limit = self.fair_limit();
        if std::mem::replace(&mut self.limit, limit) == limit {
            if let Some(account) = self.namespaces.get_mut(namespace) {
                account.apply_limit(limit, &mut self.changed);
            }
            return;
        }
        for account in self.namespaces.values_mut() {
            account.apply_limit(limit, &mut self.changed);
        }
    }

    /// The largest limit for each namespace with which all namespaces together stay within the total
    /// budget.
    fn fair_limit(&self) -> usize {
        let namespace = NAMESPACE_BUDGET.min(self.total);
        let demand = |account: &NamespaceTexts| account.bytes.min(namespace);
        let mut left = self.total;
        if self.namespaces.values().map(demand).sum::<usize>() <= left {
            return namespace;
        }
        let mut demand: Vec<usize> = self.namespaces.values().map(demand).collect();
        demand.sort_unstable();
        let namespaces = demand.len();
        for (index, bytes) in demand.into_iter().enumerate() {
            let share = left / (namespaces - index);
            if bytes > share {
                return share;
            }
            left -= bytes;
        }
        namespace
    }
}

impl NamespaceTexts {
    fn add(&mut self, id: Id, entry: &ObjectText, bytes: usize, changed: &mut Vec<Id>) {
        self.detach(entry.text);
        let text = self.texts.entry(entry.text).or_insert_with(|| {
            self.bytes += bytes;
            Text {
                bytes,
                is_accepted: true,
                objects: BTreeMap::new(),
            }
        });
        text.objects.insert(entry.age.clone(), id);
        self.attach(entry.text, changed);
    }

    fn remove(&mut self, entry: &ObjectText, changed: &mut Vec<Id>) {
        self.detach(entry.text);
        let Some(text) = self.texts.get_mut(&entry.text) else {
            return;
        };
        text.objects.remove(&entry.age);
        if text.objects.is_empty() {
            self.bytes -= text.bytes;
            self.texts.remove(&entry.text);
        } else {
            self.attach(entry.text, changed);
        }
    }

    /// Removes a text from the order of ages, before its age changes.
    fn detach(&mut self, text: u64) {
        if let Some(known) = self.texts.get(&text)
            && let Some(age) = known.objects.keys().next()
        {
            if self.accepted.remove(age).is_some() {
                self.accepted_bytes -= known.bytes;
            }
            self.rejected.remove(age);
        }
    }

    /// Inserts a text into the order of ages, as accepted if it is older than all rejected texts.
    fn attach(&mut self, text: u64, changed: &mut Vec<Id>) {
        let Some(known) = self.texts.get(&text) else {
            return;
        };
        let Some(age) = known.objects.keys().next().cloned() else {
            return;
        };
        let first_rejected = self.rejected.keys().next();
        let is_accepted = first_rejected.is_none_or(|rejected| age < *rejected);
        if is_accepted {
            self.accepted_bytes += known.bytes;
            self.accepted.insert(age, text);
        } else {
            self.rejected.insert(age, text);
        }
        self.mark(text, is_accepted, changed);
    }

    fn apply_limit(&mut self, limit: usize, changed: &mut Vec<Id>) {
        while self.accepted_bytes > limit
            && let Some((age, text)) = self.accepted.pop_last()
        {
            self.accepted_bytes -= self.texts.get(&text).map_or(0, |known| known.bytes);
            self.rejected.insert(age, text);
            self.mark(text, false, changed);
        }
        while let Some(first) = self.rejected.first_entry()
            && let Some(known) = self.texts.get(first.get())
            && self.accepted_bytes + known.bytes <= limit
        {
            self.accepted_bytes += known.bytes;
            let (age, text) = first.remove_entry();
            self.accepted.insert(age, text);
            self.mark(text, true, changed);
        }
    }

    /// Records whether a text is accepted, and adds its objects to `changed`.
    fn mark(&mut self, text: u64, is_accepted: bool, changed: &mut Vec<Id>) {
        if let Some(known) = self.texts.get_mut(&text) {
            known.is_accepted = is_accepted;
            changed.extend(known.objects.values());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget of 100 bytes for all namespaces.
    struct Budget(TextBudget);

    impl Budget {
        fn new() -> Self {
            Self(TextBudget::new(100))
        }

        /// Adds an object of this age, with a unique text. A lower age is older.
        fn add(&mut self, namespace: &str, age: u32, bytes: usize) {
            self.add_text(namespace, age, u64::from(age), bytes);
        }

        fn add_text(&mut self, namespace: &str, age: u32, text: u64, bytes: usize) {
            let namespace = namespace.into();
            let age_and_uid = (i64::from(age), "uid".into());
            let entry = ObjectText {
                namespace,
                text,
                age: age_and_uid,
            };
            self.0.set(Id::new(age), entry, bytes);
        }

        fn remove(&mut self, age: u32) {
            self.0.remove(Id::new(age));
        }

        fn rejected(&self) -> Vec<u32> {
            let ages = 1..1000;
            ages.filter(|age| !self.0.accepts(Id::new(*age))).collect()
        }
    }

    #[test]
    fn rejects_the_newest_texts_in_any_order_of_observation() {
        for order in [[1, 2, 3, 4], [4, 3, 2, 1], [3, 1, 4, 2]] {
            let mut budget = Budget::new();
            for age in order {
                budget.add("dev", age, 40);
            }
            assert_eq!(budget.rejected(), [3, 4], "{order:?}");
        }
    }

    #[test]
    fn accepts_an_object_again_when_an_older_one_is_removed() {
        let mut budget = Budget::new();
        for age in [1, 2, 3, 4] {
            budget.add("dev", age, 40);
        }
        budget.0.take_changed();
        budget.remove(1);
        assert_eq!(budget.rejected(), [4]);
        assert_eq!(budget.0.take_changed(), [Id::new(3)]);
        budget.add_text("dev", 2, 99, 10);
        assert_eq!(budget.rejected(), [0; 0]);
        for age in [2, 3, 4] {
            budget.remove(age);
        }
        let left = &budget.0;
        assert!(left.namespaces.is_empty() && left.objects.is_empty());
    }

    #[test]
    fn equal_texts_in_a_namespace_are_counted_once() {
        let mut budget = Budget::new();
        for age in 1..=9 {
            budget.add_text("dev", age, 7, 60);
        }
        budget.add("dev", 10, 30);
        budget.add("dev", 11, 30);
        assert_eq!(budget.rejected(), [11]);
        // The text is as old as the oldest object that has it.
        budget.add("dev", 1, 20);
        assert_eq!(budget.rejected(), [10, 11]);
        for age in 2..=9 {
            budget.remove(age);
        }
        assert_eq!(budget.rejected(), [0; 0]);
    }

    #[test]
    fn a_namespace_within_its_share_is_not_affected_by_others() {
        let mut budget = Budget::new();
        budget.add("team", 500, 10);
        for age in 1..=100 {
            budget.add(&format!("evil-{}", age % 3), age, 10);
        }
        budget.add("team", 501, 15);
        let rejected = budget.rejected();
        assert!(rejected.iter().all(|age| *age < 500), "{rejected:?}");
        // Each of the other three namespaces gets a third of the rest, which is enough for two texts.
        assert_eq!(rejected.len(), 100 - 3 * 2);
        for age in 1..=100 {
            budget.remove(age);
        }
        assert_eq!(budget.0.limit, 100);
    }
}
