//! What if all workloads of a namespace had another schedule: the next seven days under their schedules and
//! under the tried one, and the effect on the workloads that run now.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::{Hash, Hasher},
    rc::Rc,
};

use dayshift_manifest::plan::{Period, Planner};
use dayshift_workload::{
    Fingerprint, Inputs, InvalidSchedule, Key, NamedSchedules, Observed, Origin, ParseContext,
    ParsedInputs, ScheduleSpec, Started, read,
};

use crate::dashboard::{
    form::{EDITABLE, ScheduleFields},
    view::Row,
    week_figures::{PlannedWeek, WeekFigures},
};

/// The maximum number of steps of all computed weeks: more than 3,000 schedules with a start and a stop on each
/// workday have.
const MAX_STEPS: usize = 40_000;
/// The maximum number of parsed schedules that are kept for further workloads.
const MAX_PARSED: usize = 200;
/// The maximum number of workloads that a page names in a list.
pub(super) const MAX_NAMES: usize = 20;

/// The two weeks of some workloads.
#[derive(Default)]
pub(super) struct Trial<'v> {
    pub(super) now: WeekFigures,
    pub(super) tried: WeekFigures,
    /// The present schedules, each with its first workload and the number of all: the most common first.
    pub(super) present: Vec<(&'v Row, usize)>,
    /// The workloads that run now, although the tried schedule requires them to be stopped.
    pub(super) outside: Vec<&'v Row>,
    /// The workloads that dayshift has stopped, and that the tried schedule would start at once.
    pub(super) started: Vec<&'v Row>,
    /// The workloads for which the tried schedule is rejected, the first [`MAX_NAMES`] with the reason.
    pub(super) rejected: Vec<(&'v Row, String)>,
    /// The changes that make these workloads follow the tried schedule.
    pub(super) change: TrialChange<'v>,
    /// The number of workloads that are not counted, because their present schedule is rejected or unknown,
    /// or because there are too many distinct schedules.
    pub(super) left_out: usize,
}

/// The annotations that make the compared workloads follow the tried schedule.
#[derive(Default)]
pub(super) struct TrialChange<'v> {
    /// The number of workloads that inherit all values that the tried schedule replaces, so that an
    /// annotation of the Namespace is enough.
    pub(super) inheriting: usize,
    /// The other workloads, which must be annotated themselves.
    pub(super) own: Vec<&'v Row>,
    /// The present times that the tried ones replace, on the Namespace and on the workloads.
    pub(super) replaced_on_namespace: BTreeSet<Key>,
    pub(super) replaced_on_workloads: BTreeSet<Key>,
}

/// The settings of a trial.
pub(super) struct TrialContext<'c> {
    pub(super) planner: Planner,
    pub(super) schedules: NamedSchedules,
    pub(super) fields: &'c ScheduleFields,
    pub(super) period: Period,
}

/// The weeks of distinct schedules and, if they have `stop-after`, of distinct starts.
#[derive(Default)]
struct Weeks {
    known: HashMap<(Fingerprint, Option<Started>), Rc<PlannedWeek>>,
    /// The number of steps of all of them.
    steps: usize,
}

impl Weeks {
    /// The week of a schedule; `None` if the known ones have too many steps.
    fn get(
        &mut self,
        schedule: Fingerprint,
        spec: &ScheduleSpec,
        observed: &Observed,
        period: Period,
    ) -> Option<Rc<PlannedWeek>> {
        let started = observed.started(spec);
        let key = (schedule, started);
        if let Some(week) = self.known.get(&key) {
            return Some(Rc::clone(week));
        }
        if self.steps >= MAX_STEPS {
            return None;
        }
        let spec = ScheduleSpec {
            planned_start: started,
            ..spec.clone()
        };
        let week = Rc::new(PlannedWeek::new(&spec, period));
        self.steps += week.steps;
        self.known.insert(key, Rc::clone(&week));
        Some(week)
    }
}

/// Parsed schedules by annotations. With the tried schedule, most workloads have the same.
#[derive(Default)]
struct ParsedSchedules(HashMap<Inputs, ParsedInputs>);

impl ParsedSchedules {
    fn read(&mut self, inputs: Inputs, context: &ParseContext) -> &ParsedInputs {
        // A few windows of `extra` can take kilobytes for each of thousands of workloads.
        if self.0.len() == MAX_PARSED && !self.0.contains_key(&inputs) {
            self.0.clear();
        }
        match self.0.entry(inputs) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let parsed = read(new.key(), context);
                new.insert(parsed)
            }
        }
    }
}

/// Inputs whose hash covers only their own annotations, of which most workloads have a few. Inputs that differ only
/// in inherited values are not equal, but have the same hash.
#[derive(PartialEq, Eq)]
struct HashedByOwn<'v>(&'v Inputs);

impl Hash for HashedByOwn<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for key in Key::ALL {
            if let Some(text) = self.0.own().text(key) {
                (key as u8, text).hash(state);
            }
        }
    }
}

/// The rows with equal annotations, each with its position, in the order of the first ones.
fn by_inputs<'v>(rows: &[&'v Row]) -> Vec<Vec<(usize, &'v Row)>> {
    let mut groups: Vec<Vec<(usize, &Row)>> = Vec::new();
    let mut known = HashMap::new();
    for (position, &row) in rows.iter().enumerate() {
        let at = *known
            .entry(HashedByOwn(&row.observed.inputs))
            .or_insert_with(|| groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push((position, row)),
            None => groups.push(vec![(position, row)]),
        }
    }
    groups
}

/// Why a workload with these annotations is rejected.
fn refusal<'p>(parsed: &'p ParsedInputs, observed: &Observed) -> Option<Cow<'p, InvalidSchedule>> {
    match parsed {
        ParsedInputs::Invalid(refusal) => Some(Cow::Borrowed(refusal)),
        ParsedInputs::Scheduled(_) => observed.count_refusal().map(Cow::Owned),
        ParsedInputs::Unscheduled => None,
    }
}

impl TrialContext<'_> {
    /// Computes both weeks of these workloads.
    pub(super) fn run<'v>(&self, rows: &[&'v Row]) -> Trial<'v> {
        let mut trial = Trial::default();
        let mut weeks = Weeks::default();
        let mut parsed = ParsedSchedules::default();
        let mut present: HashMap<Fingerprint, usize> = HashMap::new();
        let mut rejected = Vec::new();
        let mut own = Vec::new();
        for alike in by_inputs(rows) {
            let Some(inputs) = alike.first().map(|(_, row)| &row.observed.inputs) else {
                continue;
            };
            let is_inherited = self.is_inherited(inputs);
            let compared = trial.now.workloads;
            let tried = self.tried(inputs);
            let [now_text, then_text] = [inputs, &tried].map(|inputs| inputs.fingerprint(""));
            let parsed = parsed.read(tried, &self.planner.context);
            for (position, row) in alike {
                let observed = &row.observed;
                if refusal(parsed, observed).is_some() {
                    rejected.push(row);
                    continue;
                }
                let (Some(now), Some(then)) = (row.parsed.spec(), parsed.spec()) else {
                    trial.left_out += 1;
                    continue;
                };
                let week_now = weeks.get(now_text, now, observed, self.period);
                let week_then = weeks.get(then_text, then, observed, self.period);
                let (Some(week_now), Some(week_then)) = (week_now, week_then) else {
                    trial.left_out += 1;
                    continue;
                };
                // Only with an inherited schedule, a start leaves a workload at 0.
                let then = if is_inherited && now.keeps_zero {
                    &ScheduleSpec {
                        keeps_zero: true,
                        ..then.clone()
                    }
                } else {
                    then
                };
                trial.now.add(now, observed, &week_now);
                trial.tried.add(then, observed, &week_then);
                if !is_inherited {
                    own.push((position, row));
                }
                let runs = observed.replicas > then.stop_replicas;
                match week_then.is_up_at_first {
                    Some(false) if runs => trial.outside.push(row),
                    Some(true) if !runs && row.has_saved() => trial.started.push(row),
                    _ => {}
                }
                let at = *present.entry(now_text).or_insert(trial.present.len());
                match trial.present.get_mut(at) {
                    Some((first, count)) => {
                        *count += 1;
                        // Its week is drawn, and that of an override is not the week of the others.
                        if first.status.active_override.is_some()
                            && row.status.active_override.is_none()
                        {
                            *first = row;
                        }
                    }
                    None => trial.present.push((row, 1)),
                }
            }
            let compared = trial.now.workloads - compared;
            if compared > 0 {
                trial.change.add(self, inputs, is_inherited, compared);
            }
        }
        trial
            .present
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        own.sort_unstable_by_key(|(position, _)| *position);
        trial.change.own = own.into_iter().map(|(_, row)| row).collect();
        for rows in [&mut trial.outside, &mut trial.started, &mut rejected] {
            rows.sort_by(|one, other| one.order().cmp(&other.order()));
        }
        let rejected = rejected.into_iter().enumerate().map(|(at, row)| {
            let reason = (at < MAX_NAMES).then(|| self.rejection(&row.observed, &mut parsed));
            (row, reason.unwrap_or_default())
        });
        trial.rejected = rejected.collect();
        trial
    }

    /// The reason for which the tried schedule is rejected for a workload.
    fn rejection(&self, observed: &Observed, parsed: &mut ParsedSchedules) -> String {
        let tried = self.tried(&observed.inputs);
        let parsed = parsed.read(tried, &self.planner.context);
        refusal(parsed, observed).map_or_else(String::new, |refusal| refusal.to_string())
    }

    fn gives(&self, key: Key) -> bool {
        !self.fields.text(key).is_empty()
    }

    /// Whether the tried schedule has times, which replace all present ones.
    fn gives_times(&self) -> bool {
        let times = [Key::Hours, Key::Start, Key::Stop, Key::NamedSchedule];
        times.into_iter().any(|key| self.gives(key))
    }

    /// Whether a workload with these annotations follows the tried schedule if only its Namespace has it.
    fn is_inherited(&self, inputs: &Inputs) -> bool {
        let has_priority =
            |key: Key| matches!(inputs.origin(key), Some(Origin::Own | Origin::Team));
        let times = Key::SCHEDULE.into_iter().chain([Key::NamedSchedule]);
        let times = times.filter(|_| self.gives_times());
        let given = EDITABLE.into_iter().filter(|key| self.gives(*key));
        // A workload with exact counts does not inherit some other values.
        let mut keys = times.chain(given).chain([Key::Scale]);
        !keys.any(has_priority)
    }

    /// The annotations with the tried schedule as the workload's own. Given times replace all its times, and
    /// each other given value replaces its own.
    pub(super) fn tried(&self, present: &Inputs) -> Inputs {
        let mut inputs = present.clone().without(&Key::OVERRIDES);
        if self.gives_times() {
            inputs = inputs
                .without(&Key::SCHEDULE)
                .without(&[Key::NamedSchedule]);
        }
        for (key, text) in self.fields.annotations() {
            if let Some(text) = text {
                inputs = inputs.with(key, &text);
            }
        }
        if self.gives(Key::NamedSchedule) {
            inputs = inputs.with_schedules(&self.schedules);
        }
        inputs
    }
}

impl TrialChange<'_> {
    /// Adds a number of workloads with these annotations.
    fn add(
        &mut self,
        context: &TrialContext<'_>,
        inputs: &Inputs,
        is_inherited: bool,
        workloads: usize,
    ) {
        let times = Key::SCHEDULE.into_iter().chain([Key::NamedSchedule]);
        let times = times.filter(|key| context.gives_times() && !context.gives(*key));
        if is_inherited {
            self.inheriting += workloads;
            // Times of the Namespace have priority over those of a schedule that it names.
            let replaced = times.filter(|key| *key != Key::NamedSchedule);
            let namespace = inputs.defaults();
            let is_present = |key: &Key| namespace.is_some_and(|texts| texts.has(*key));
            self.replaced_on_namespace
                .extend(replaced.filter(is_present));
        } else {
            let own = inputs.own();
            let replaced = times.filter(|key| own.has(*key));
            self.replaced_on_workloads.extend(replaced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_schedules_of_thousands_of_workloads_are_not_kept() {
        let context = ParseContext::default();
        let mut known = ParsedSchedules::default();
        for number in 0..1_000 {
            let hours = format!("{:02}:{:02}-24:00", number / 60, number % 60);
            let inputs = Inputs::default().with(Key::Hours, &hours);
            assert!(known.read(inputs, &context).spec().is_some(), "{hours}");
            assert!(known.0.len() <= MAX_PARSED);
        }
    }
}
