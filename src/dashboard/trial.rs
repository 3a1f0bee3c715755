//! What if all workloads of a namespace had another schedule: the next seven days under their schedules and
//! under the tried one, and the effect on the workloads that run now.

use std::{collections::HashMap, rc::Rc};

use dayshift_manifest::plan::{Period, Planner};
use dayshift_workload::{
    Fingerprint, Inputs, Key, NamedSchedules, Observed, Origin, ParsedInputs, ScheduleSpec,
    Started, read,
};

use crate::dashboard::{
    form::ScheduleFields,
    view::Row,
    week_figures::{PlannedWeek, WeekFigures},
};

/// The maximum number of distinct schedules whose weeks are computed for one page.
const MAX_WEEKS: usize = 200;
/// The maximum number of parsed schedules that are kept for further workloads with the same annotations.
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
    /// The number of workloads with a schedule of their own, which has priority over the Namespace's.
    pub(super) own: usize,
    /// The number of workloads that are not counted, because their present schedule is rejected or unknown,
    /// or because there are too many distinct schedules.
    pub(super) left_out: usize,
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
struct Weeks(HashMap<(Fingerprint, Option<Started>), Rc<PlannedWeek>>);

impl Weeks {
    /// The week of a schedule; `None` if there are too many.
    fn get(
        &mut self,
        schedule: Fingerprint,
        spec: &ScheduleSpec,
        observed: &Observed,
        period: Period,
    ) -> Option<Rc<PlannedWeek>> {
        let started = observed.started(spec);
        let key = (schedule, started);
        if let Some(week) = self.0.get(&key) {
            return Some(Rc::clone(week));
        }
        if self.0.len() == MAX_WEEKS {
            return None;
        }
        let spec = ScheduleSpec {
            planned_start: started,
            ..spec.clone()
        };
        let week = Rc::new(PlannedWeek::new(&spec, period));
        self.0.insert(key, Rc::clone(&week));
        Some(week)
    }
}

/// The present and the tried schedule of the workloads with the same annotations.
struct TriedInputs {
    present: Fingerprint,
    tried: Fingerprint,
    parsed: ParsedInputs,
}

/// Schedules by annotations. Most workloads of a namespace have the same annotations.
#[derive(Default)]
struct KnownInputs<'v>(HashMap<&'v Inputs, TriedInputs>);

impl<'v> KnownInputs<'v> {
    fn get(&mut self, inputs: &'v Inputs, read: impl FnOnce() -> TriedInputs) -> &TriedInputs {
        // A few windows of `extra` can take kilobytes for each of thousands of workloads.
        if self.0.len() == MAX_PARSED && !self.0.contains_key(inputs) {
            self.0.clear();
        }
        self.0.entry(inputs).or_insert_with(read)
    }
}

impl TrialContext<'_> {
    /// Computes both weeks of these workloads.
    pub(super) fn run<'v>(&self, rows: &[&'v Row]) -> Trial<'v> {
        let mut trial = Trial::default();
        let mut weeks = Weeks::default();
        let mut known = KnownInputs::default();
        let mut present: HashMap<Fingerprint, usize> = HashMap::new();
        for &row in rows {
            let observed = &row.observed;
            trial.own += usize::from(observed.inputs.schedule_origin() == Some(Origin::Own));
            let inputs = &observed.inputs;
            let known = known.get(inputs, || self.tried_inputs(inputs));
            let refusal = observed.count_refusal();
            let refusal = match &known.parsed {
                ParsedInputs::Invalid(refusal) => Some(refusal),
                ParsedInputs::Scheduled(_) => refusal.as_ref(),
                ParsedInputs::Unscheduled => None,
            };
            if let Some(refusal) = refusal {
                let is_named = trial.rejected.len() < MAX_NAMES;
                let reason = is_named.then(|| refusal.to_string());
                trial.rejected.push((row, reason.unwrap_or_default()));
                continue;
            }
            let (Some(now), Some(then)) = (row.parsed.spec(), known.parsed.spec()) else {
                trial.left_out += 1;
                continue;
            };
            let week_now = weeks.get(known.present, now, observed, self.period);
            let week_then = weeks.get(known.tried, then, observed, self.period);
            let (Some(week_now), Some(week_then)) = (week_now, week_then) else {
                trial.left_out += 1;
                continue;
            };
            trial.now.add(now, observed, &week_now);
            trial.tried.add(then, observed, &week_then);
            let runs = observed.replicas > then.stop_replicas;
            match week_then.is_up_at_first {
                Some(false) if runs => trial.outside.push(row),
                Some(true) if !runs && row.has_saved() => trial.started.push(row),
                _ => {}
            }
            let at = *present.entry(known.present).or_insert(trial.present.len());
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
        trial
            .present
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        trial
    }

    fn tried_inputs(&self, present: &Inputs) -> TriedInputs {
        let tried = self.tried(present);
        TriedInputs {
            present: present.fingerprint(""),
            tried: tried.fingerprint(""),
            parsed: read(&tried, &self.planner.context),
        }
    }

    /// The annotations with the tried schedule as the workload's own. Given times replace all its times, and
    /// each other given value replaces its own.
    pub(super) fn tried(&self, present: &Inputs) -> Inputs {
        let given = |key: &Key| !self.fields.text(*key).is_empty();
        let mut inputs = present.clone().without(&Key::OVERRIDES);
        let times = [Key::Hours, Key::Start, Key::Stop, Key::NamedSchedule];
        if times.iter().any(given) {
            inputs = inputs
                .without(&Key::SCHEDULE)
                .without(&[Key::NamedSchedule]);
        }
        for (key, text) in self.fields.annotations() {
            if let Some(text) = text {
                inputs = inputs.with(key, &text);
            }
        }
        if given(&Key::NamedSchedule) {
            inputs = inputs.with_schedules(&self.schedules);
        }
        inputs
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::ParseContext;

    use super::*;

    #[test]
    fn parsed_schedules_of_thousands_of_workloads_are_not_kept() {
        let context = ParseContext::default();
        let inputs: Vec<Inputs> = (0..1_000)
            .map(|number| Inputs::default().with(Key::Hours, &format!("09:00-19:00:{number}")))
            .collect();
        let mut known = KnownInputs::default();
        for inputs in &inputs {
            let read = || TriedInputs {
                present: inputs.fingerprint(""),
                tried: inputs.fingerprint(""),
                parsed: read(inputs, &context),
            };
            known.get(inputs, read);
            known.get(inputs, || panic!("the schedule is read again"));
            assert!(known.0.len() <= MAX_PARSED);
        }
    }
}
