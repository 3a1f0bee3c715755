//! Limits the memory for the annotations of workloads, by namespace and in total.
//!
//! The number of objects that users can create is not limited, and parsed text takes several times its
//! length in memory. If the text in a namespace exceeds its budget, the newest objects with long text are
//! rejected, and their text is dropped. If the text of all namespaces exceeds the total budget, each
//! namespace is limited to a fair share. So a namespace within its share is not affected by others.
//!
//! The annotations of a Namespace and its team's defaults count once, for all objects that inherit them. They
//! are always accepted.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher as _, Hash, RandomState},
    sync::Arc,
};

use dayshift_cluster::fair_share::fair_share;
use dayshift_workload::Observed;

use crate::ids::Id;

/// Objects with at most this many bytes of text are always accepted and not counted.
const MAX_SHORT: usize = 128;

/// The number of bytes of the annotation `inherited` that are not counted, because dayshift writes it.
const UNCOUNTED_INHERITED: usize = 1024;

/// The budget of a namespace in bytes. Equal annotations of several objects are counted once.
const NAMESPACE_BUDGET: usize = 512 << 10;

/// The budget of all namespaces together in bytes.
const TOTAL_BUDGET: usize = 2 << 20;

/// The age of an object: its creation time in seconds since the Unix epoch, and its UID.
type Age = (i64, Arc<str>);

/// The budgets of the annotations that users write, and of the annotation `inherited`. The latter is
/// equal on all workloads that follow the same named schedule, so it counts once for all of them.
#[derive(Default)]
pub(super) struct TextBudgets {
    own: TextBudget,
    inherited: TextBudget,
}

impl TextBudgets {
    /// Counts the texts of an observation.
    ///
    /// # Errors
    ///
    /// A text exceeds its budget, and the texts should be dropped.
    pub(super) fn observe(&mut self, id: Id, observed: &Observed) -> Result<(), OverBudget> {
        let own = observed.inputs.own();
        let inherited = observed.inherited.as_deref().unwrap_or_default();
        let bytes = inherited.len().saturating_sub(UNCOUNTED_INHERITED);
        let of_own = self.own.observe(id, observed, (own, own.counted_bytes()));
        let of_inherited = self.inherited.observe(id, observed, (inherited, bytes));
        of_own.and(of_inherited)
    }

    /// Counts the bytes of the annotations of a Namespace and of its team's defaults; 0 if there are none.
    pub(super) fn observe_namespace(&mut self, namespace: &Arc<str>, bytes: usize) {
        self.own.observe_namespace(namespace, bytes);
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, id: Id) {
        self.own.remove(id);
        self.inherited.remove(id);
    }

    /// Why the texts of an object are rejected; `None` if they are accepted.
    pub(super) fn rejection(&self, id: Id) -> Option<OverBudget> {
        let inherited = || self.inherited.rejection(id);
        self.own.rejection(id).or_else(inherited)
    }

    /// Takes the objects whose texts were accepted or rejected.
    pub(super) fn take_changed(&mut self) -> Vec<Id> {
        let mut changed = self.own.take_changed();
        changed.append(&mut self.inherited.take_changed());
        changed
    }
}

/// The long texts of one kind in all namespaces.
struct TextBudget {
    namespaces: BTreeMap<Arc<str>, NamespaceTexts>,
    objects: HashMap<Id, ObjectText>,
    /// The current limit of each namespace: its budget, or a fair share of the total budget.
    limit: usize,
    total: usize,
    /// Objects that were accepted or rejected since the last call of [`Self::take_changed`].
    changed: Vec<Id>,
    hashes: RandomState,
}

/// The reason why the text of an object is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverBudget {
    /// The effective limit of the namespace in bytes when the text was rejected.
    pub(super) limit: usize,
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
    /// The texts and their lengths, by the age of the oldest object with that text.
    by_age: BTreeMap<Age, (u64, usize)>,
    /// The age of the first text that is rejected, with all newer ones; `None` if all are accepted.
    limit_age: Option<Age>,
    bytes: usize,
    /// The texts whose age has changed since the last call of [`Self::apply_limit`].
    moved: Vec<u64>,
    /// The bytes of the Namespace's own annotations.
    namespace_bytes: usize,
}

/// A text, and the objects that have it.
struct Text {
    bytes: usize,
    /// Why the text is rejected, after the last call of [`NamespaceTexts::apply_limit`].
    rejected: Option<OverBudget>,
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

    /// Counts a text of an observation, with its length in bytes.
    fn observe(
        &mut self,
        id: Id,
        observed: &Observed,
        (text, bytes): (impl Hash, usize),
    ) -> Result<(), OverBudget> {
        if bytes <= MAX_SHORT {
            self.remove(id);
            return Ok(());
        }
        let text = self.hashes.hash_one(text);
        let object = &observed.object;
        self.set(
            id,
            ObjectText {
                namespace: Arc::clone(&object.namespace),
                text,
                age: (observed.created.timestamp(), Arc::clone(&object.uid)),
            },
            bytes,
        );
        self.rejection(id).map_or(Ok(()), Err)
    }

    /// Counts the bytes of the annotations of a Namespace and of its team's defaults.
    fn observe_namespace(&mut self, namespace: &Arc<str>, bytes: usize) {
        self.set_namespace(namespace, if bytes > MAX_SHORT { bytes } else { 0 });
    }

    fn set_namespace(&mut self, namespace: &Arc<str>, bytes: usize) {
        let known = self.namespaces.get(namespace);
        if known.map_or(0, |account| account.namespace_bytes) == bytes {
            return;
        }
        let account = self.namespaces.entry(Arc::clone(namespace)).or_default();
        account.namespace_bytes = bytes;
        self.prune(namespace);
        self.apply_limit(namespace);
    }

    fn set(&mut self, id: Id, entry: ObjectText, bytes: usize) {
        if self.objects.get(&id) == Some(&entry) {
            return;
        }
        let namespace = Arc::clone(&entry.namespace);
        let before = self.forget(id);
        if let Some(before) = before.filter(|before| *before != namespace) {
            self.apply_limit(&before);
        }
        let account = self.namespaces.entry(Arc::clone(&namespace)).or_default();
        account.add(id, &entry, bytes);
        self.objects.insert(id, entry);
        self.apply_limit(&namespace);
    }

    /// Forgets an object.
    fn remove(&mut self, id: Id) {
        if let Some(namespace) = self.forget(id) {
            self.apply_limit(&namespace);
        }
    }

    /// Removes an object. Returns its namespace, to which the caller has to apply the limit.
    fn forget(&mut self, id: Id) -> Option<Arc<str>> {
        let entry = self.objects.remove(&id)?;
        if let Some(account) = self.namespaces.get_mut(&entry.namespace) {
            account.remove(&entry);
        }
        self.prune(&entry.namespace);
        Some(entry.namespace)
    }

    fn prune(&mut self, namespace: &str) {
        let known = self.namespaces.get(namespace);
        if known.is_some_and(|account| account.texts.is_empty() && account.namespace_bytes == 0) {
            self.namespaces.remove(namespace);
        }
    }

    /// Why the text of an object is rejected; `None` if it is accepted.
    fn rejection(&self, id: Id) -> Option<OverBudget> {
        let entry = self.objects.get(&id)?;
        let texts = &self.namespaces.get(&entry.namespace)?.texts;
        texts.get(&entry.text)?.rejected
    }

    /// Takes the objects whose text was accepted or rejected.
    fn take_changed(&mut self) -> Vec<Id> {
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
        let accounts = self.namespaces.values();
        let demands = accounts.map(|account| account.demand().min(namespace));
        fair_share(demands.collect(), self.total).min(namespace)
    }
}

impl NamespaceTexts {
    /// The bytes of all texts in the namespace, accepted or not, and of its own annotations.
    const fn demand(&self) -> usize {
        self.bytes + self.namespace_bytes
    }

    /// Adds an object. Its text is accepted or rejected by [`Self::apply_limit`].
    fn add(&mut self, id: Id, entry: &ObjectText, bytes: usize) {
        let text = self.texts.entry(entry.text).or_insert_with(|| {
            self.bytes += bytes;
            Text {
                bytes,
                rejected: None,
                objects: BTreeMap::new(),
            }
        });
        let oldest = text.objects.keys().next().cloned();
        text.objects.insert(entry.age.clone(), id);
        // A text is as old as the oldest object with it.
        if oldest.as_ref().is_none_or(|oldest| entry.age < *oldest) {
            let known = (entry.text, text.bytes);
            self.set_age(oldest.as_ref(), Some(entry.age.clone()), known);
        }
    }

    fn remove(&mut self, entry: &ObjectText) {
        let Some(text) = self.texts.get_mut(&entry.text) else {
            return;
        };
        let is_oldest = text.objects.keys().next() == Some(&entry.age);
        text.objects.remove(&entry.age);
        if is_oldest {
            let (next, known) = (
                text.objects.keys().next().cloned(),
                (entry.text, text.bytes),
            );
            if next.is_none() {
                self.bytes -= text.bytes;
                self.texts.remove(&entry.text);
            }
            self.set_age(Some(&entry.age), next, known);
        }
    }

    fn set_age(&mut self, before: Option<&Age>, after: Option<Age>, text: (u64, usize)) {
        if let Some(before) = before {
            self.by_age.remove(before);
        }
        if let Some(after) = after {
            self.by_age.insert(after, text);
        }
        self.moved.push(text.0);
    }

    /// Accepts the oldest texts that fit into the limit together, and rejects the others. Reports the
    /// objects for which something has changed.
    fn apply_limit(&mut self, limit: usize, changed: &mut Vec<Id>) {
        let mut room = Some(limit.saturating_sub(self.namespace_bytes));
        let first_rejected = self.by_age.iter().find(|(_, (_, bytes))| {
            room = room.and_then(|room| room.checked_sub(*bytes));
            room.is_none()
        });
        let new = first_rejected.map(|(age, _)| age.clone());
        let old = std::mem::replace(&mut self.limit_age, new.clone());
        // Only texts between the old and the new limit can change.
        let last = old.clone().zip(new.clone()).map(|(old, new)| old.max(new));
        let first = old.into_iter().chain(new).min();
        let between = first
            .iter()
            .flat_map(|first| self.by_age.range::<Age, _>(first..));
        let between = between.take_while(|(age, _)| last.as_ref().is_none_or(|last| *age < last));
        let mut texts: Vec<u64> = between.map(|(_, (text, _))| *text).collect();
        texts.append(&mut self.moved);
        for text in texts {
            let Some(known) = self.texts.get_mut(&text) else {
                continue;
            };
            let (oldest, limit_age) = (known.objects.keys().next(), self.limit_age.as_ref());
            let is_accepted = limit_age.is_none_or(|limit| oldest.is_some_and(|age| age < limit));
            if is_accepted != known.rejected.is_none() {
                known.rejected = (!is_accepted).then_some(OverBudget { limit });
                changed.extend(known.objects.values());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget of 100 bytes for all namespaces.
    struct TestBudget(TextBudget);

    impl TestBudget {
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
            ages.filter(|age| self.0.rejection(Id::new(*age)).is_some())
                .collect()
        }
    }

    #[test]
    fn rejects_the_newest_texts_in_any_order_of_observation() {
        for order in [[1, 2, 3, 4], [4, 3, 2, 1], [3, 1, 4, 2]] {
            let mut budget = TestBudget::new();
            for age in order {
                budget.add("dev", age, 40);
            }
            assert_eq!(budget.rejected(), [3, 4], "{order:?}");
        }
    }

    #[test]
    fn accepts_an_object_again_when_an_older_one_is_removed() {
        let mut budget = TestBudget::new();
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
        let mut budget = TestBudget::new();
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
        let mut budget = TestBudget::new();
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

    #[test]
    fn another_copy_of_a_text_changes_nothing_for_the_others() {
        let mut budget = TestBudget::new();
        budget.add("dev", 1, 60);
        for (age, text) in [(3, 7), (4, 7), (10, 8), (11, 8)] {
            budget.add_text("dev", age, text, 45);
        }
        assert_eq!(budget.rejected(), [3, 4, 10, 11]);
        budget.add_text("dev", 2, 9, 30);
        budget.0.take_changed();
        for (age, text) in [(5, 7), (12, 8), (6, 9), (20, 9)] {
            budget.add_text("dev", age, text, 45);
        }
        // Also not if the copy is the oldest object with the text.
        budget.add_text("dev", 9, 8, 45);
        budget.remove(3);
        let changed = budget.0.take_changed();
        assert!(changed.is_empty(), "{changed:?}");
        assert_eq!(budget.rejected(), [4, 5, 9, 10, 11, 12]);
    }

    #[test]
    fn rejection_has_the_limit_that_was_effective() {
        let mut budget = TestBudget::new();
        budget.add("dev", 1, 70);
        budget.add("dev", 2, 70);
        let limit = |budget: &TestBudget, age| {
            let rejection = budget.0.rejection(Id::new(age));
            rejection.map(|over_budget| over_budget.limit)
        };
        assert_eq!((limit(&budget, 1), limit(&budget, 2)), (None, Some(100)));
        budget.add("team", 3, 40);
        assert_eq!(limit(&budget, 1), Some(60), "the fair share");
        // The error of an object that was rejected earlier stays.
        assert_eq!(limit(&budget, 2), Some(100));
    }

    #[test]
    fn annotations_of_a_namespace_count_once_and_are_never_rejected() {
        let mut budget = TestBudget::new();
        let dev = Arc::from("dev");
        for age in [1, 2] {
            budget.add("dev", age, 40);
        }
        budget.0.set_namespace(&dev, 30);
        assert_eq!(budget.rejected(), [2]);
        budget.add("team", 3, 50);
        assert_eq!(budget.rejected(), [1, 2], "50 bytes for each namespace");
        budget.0.set_namespace(&dev, 0);
        assert_eq!(budget.rejected(), [2]);
        budget.0.set_namespace(&dev, 200);
        assert_eq!(budget.rejected(), [1, 2]);
        for age in [1, 2, 3] {
            budget.remove(age);
        }
        budget.0.set_namespace(&dev, 0);
        assert!(budget.0.namespaces.is_empty());
    }
}
