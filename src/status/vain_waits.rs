//! What starts wait for in vain, among the workloads that are seen.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::{note::Note, status_context::StatusContext, workload_status::WorkloadStatus};
use crate::{
    cluster::{Part, Query, Refused, WithManagers},
    schedule::Zone,
    workload::{
        Key, Kind, Needed, NeededKind, NeededWorkload, Observed, Override, ParsedInputs, Prefix,
        Replicas, ScheduleSpec, VainWait,
    },
};

/// Why a start does not wait for something that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InVain {
    /// What is named.
    pub needed: Needed,
    /// Why; `None` where no such object is there.
    pub why: Option<VainWait>,
}

impl InVain {
    /// `sts/db, which is paused without an end`
    fn words(&self, zone: Zone) -> String {
        let why = self
            .why
            .map_or_else(|| "is not there".to_owned(), |it| it.words(zone));
        format!("{}, which {why}", self.needed)
    }

    /// What helps.
    fn help(&self, prefix: &Prefix) -> String {
        let (needed, key) = (&self.needed, prefix.annotation(Key::After));
        let change = match self.why {
            None => return format!("correct {key}"),
            Some(VainWait::Unscheduled) => format!("give {needed} a schedule"),
            Some(VainWait::Overridden(Override::Pause(_))) => format!("end the pause of {needed}"),
            Some(VainWait::Overridden(_)) => format!("end the sleep of {needed}"),
            Some(VainWait::Stopped(_)) => format!("start {needed} before, or at the same time"),
        };
        format!("{change}, or remove it from {key}")
    }
}

/// What a start names, as far as it is seen.
pub enum Seen {
    /// It is there, and asks for this.
    There(Box<(Observed, ParsedInputs)>),
    /// All of its kind are seen, and it is not among them.
    Missing,
    /// It may be there.
    Unknown,
}

impl WorkloadStatus {
    /// Takes in what its next starts name in vain.
    pub fn find_vain_waits(
        &mut self,
        parsed: &ParsedInputs,
        now: DateTime<Utc>,
        seen: impl Fn(&Needed) -> Seen,
    ) {
        let ParsedInputs::Scheduled(spec) = parsed else {
            return;
        };
        let is_known = spec.schedule.knows_its_calendars() && self.waits_for.is_empty();
        let Some(after) = spec.after.as_ref().filter(|_| is_known) else {
            return;
        };
        for needed in after.needed_by(&self.object) {
            let why = match seen(needed) {
                Seen::Unknown => continue,
                Seen::Missing => None,
                Seen::There(it) => {
                    let (observed, parsed) = *it;
                    let Some(why) = why_in_vain(self, spec, &observed, parsed, now) else {
                        continue;
                    };
                    Some(why)
                }
            };
            let needed = needed.clone();
            self.in_vain.push(InVain { needed, why });
        }
        if !self.in_vain.is_empty() {
            self.notes.push(Note::WaitsInVain);
        }
    }

    /// What is said of that, and what helps.
    pub(super) fn vain_words(&self, prefix: &Prefix) -> (String, String) {
        let words: Vec<_> = self.in_vain.iter().map(|it| it.words(self.zone)).collect();
        let help: Vec<_> = self.in_vain.iter().map(|it| it.help(prefix)).collect();
        (
            format!("its start does not wait for {}", words.join("; nor for ")),
            format!("; {}", help.join("; ")),
        )
    }
}

fn why_in_vain(
    status: &WorkloadStatus,
    spec: &ScheduleSpec,
    observed: &Observed,
    mut parsed: ParsedInputs,
    now: DateTime<Utc>,
) -> Option<VainWait> {
    if let ParsedInputs::Scheduled(spec) = &mut parsed {
        if !spec.schedule.knows_its_calendars() {
            return None;
        }
        spec.overrides = observed.overrides(spec, &observed.state(), now);
    }
    let needed = NeededWorkload {
        object: &observed.object,
        parsed: &parsed,
        replicas: Some(observed.replicas),
    };
    let why = spec.waits_in_vain(&status.object, &needed, now)?;
    // What is paused while it runs goes on to run.
    let is_up = observed.replicas > Replicas::ZERO;
    let goes_on = is_up && matches!(why, VainWait::Overridden(Override::Pause(_)));
    (!goes_on).then_some(why)
}

/// The workloads that a command sees.
#[derive(Debug)]
pub struct SeenWorkloads<'a> {
    query: &'a Query,
    refused: &'a [Refused],
    /// By namespace, kind and name.
    known: HashMap<(&'a str, Kind, &'a str), &'a WithManagers>,
}

impl<'a> SeenWorkloads<'a> {
    /// Those that this query has found, and what of it was refused.
    pub fn of(
        query: &'a Query,
        refused: &'a [Refused],
        workloads: impl Iterator<Item = (Kind, &'a WithManagers)>,
    ) -> Self {
        let place = |(kind, it): (Kind, &'a WithManagers)| {
            ((it.workload.namespace(), kind, it.workload.name()), it)
        };
        Self {
            query,
            refused,
            known: workloads.map(place).collect(),
        }
    }

    /// What somebody names in a namespace, as far as it is seen.
    pub(super) fn seen(
        &self,
        namespace: &str,
        needed: &Needed,
        context: &StatusContext<'_>,
    ) -> Seen {
        let NeededKind::Workload(kind) = needed.kind else {
            return Seen::Unknown;
        };
        match self.known.get(&(namespace, kind, &*needed.name)) {
            Some(managed) => {
                let seen = managed.workload.observe(kind, context.prefix);
                let observed = context.defaults.applied(seen);
                let parsed = observed.read(context.parse_context);
                Seen::There(Box::new((observed, parsed)))
            }
            None if self.has_all_of(kind, namespace) => Seen::Missing,
            None => Seen::Unknown,
        }
    }

    /// Whether all objects of a kind in a namespace are among these.
    fn has_all_of(&self, kind: Kind, namespace: &str) -> bool {
        let is_of = |part: &Part| {
            let is_here = part.namespace.as_deref().is_none_or(|it| it == namespace);
            part.kind == kind && part.name.is_none() && is_here
        };
        let is_refused = self.refused.iter().any(|it| is_of(&it.part));
        let parts = self.query.parts();
        let is_asked = parts.iter().any(|(part, _)| is_of(part));
        is_asked && !is_refused && self.query.selector().is_none()
    }
}
