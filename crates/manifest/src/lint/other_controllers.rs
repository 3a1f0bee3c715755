//! What else sets the counts of scheduled workloads: autoscalers, and what puts back what is in Git.

use std::collections::{BTreeSet, HashMap};

use dayshift_text::{first_of, quote};
use dayshift_workload::{Key, Kind, Origin, Replicas, other_controllers::OtherController};

use crate::{
    lint::{
        object::ObjectFindings,
        rule::{LintFinding, LintRule},
        schedule_finding::own_line,
    },
    objects::{
        Contents,
        delivery::{Delivery, RevertTiming},
        other::{OtherObject, ScaledBy, ScaledTarget},
        workload::ManifestWorkload,
    },
};

/// The objects that scale each workload, by kind, namespace and name, with the source of each.
type Scalers<'c> =
    HashMap<(Kind, &'c str, &'c str), Vec<(usize, &'c OtherObject, &'c ScaledTarget)>>;

/// What the objects of all files do to the counts of others.
pub(crate) struct OtherScalers<'c> {
    scalers: Scalers<'c>,
}

impl<'c> OtherScalers<'c> {
    pub(crate) fn new(contents: &'c [Contents]) -> Self {
        let mut scalers = Scalers::new();
        for (source, contents) in contents.iter().enumerate() {
            for other in &contents.others {
                if let Some(scaled) = &other.scales {
                    let key = (scaled.kind, &*other.namespace, &*scaled.name);
                    let each = scalers.entry(key).or_default();
                    each.push((source, other, scaled));
                }
            }
        }
        Self { scalers }
    }

    /// What else scales a workload.
    pub(crate) fn check(&self, object: &mut ObjectFindings<'_>, workload: &ManifestWorkload) {
        let it = &workload.object;
        let key = (it.kind, &*it.namespace, &*it.name);
        let scalers = self.scalers.get(&key);
        let scalers = scalers.filter(|_| workload.inputs.has_schedule());
        for (source, other, scaled) in scalers.into_iter().flatten() {
            match scaled.by {
                ScaledBy::ScaledObject => {
                    object.scaled_object(workload, *source, other, scaled);
                }
                // What stays at 0 is nobody's to fight over.
                _ if workload.is_kept_at_zero() => {}
                ScaledBy::Autoscaler => object.autoscaler(workload, *source, other, scaled),
                ScaledBy::Rollout => object.rollout(workload, *source, other, scaled),
            }
        }
    }
}

/// Whether a delivery may bring a workload, as far as files tell: it has a count to be put back.
fn may_bring(delivery: &Delivery, workload: &ManifestWorkload) -> bool {
    let namespace = delivery.namespace.as_deref();
    workload.count_place.is_some()
        && workload.inputs.has_schedule()
        && namespace.is_none_or(|namespace| namespace == &*workload.object.namespace)
}

impl ObjectFindings<'_> {
    /// What an object of a GitOps tool puts back, told once.
    pub(crate) fn put_back(&mut self, other: &OtherObject, contents: &[Contents]) {
        let Some(delivery) = &other.delivers else {
            return;
        };
        let all = contents.iter().flat_map(|contents| &contents.workloads);
        let brought = all.filter(|workload| may_bring(delivery, workload));
        let others = contents.iter().flat_map(|contents| &contents.others);
        let by_all: Vec<_> = others
            .filter_map(|other| other.ignored_by_all.as_ref())
            .filter(|_| delivery.respects_all)
            .collect();
        let is_ignored = |kind, name: &str| {
            delivery.ignores(kind, name) || by_all.iter().any(|rules| rules.ignores(kind, name))
        };
        let fought: Vec<_> = brought
            .filter(|workload| !is_ignored(workload.object.kind, &workload.object.name))
            .map(|workload| &workload.object)
            .collect();
        if fought.is_empty() {
            return;
        }
        let kinds: BTreeSet<_> = fought.iter().map(|object| object.kind).collect();
        let kinds: Vec<_> = kinds.into_iter().collect();
        let names: Vec<_> = fought.iter().map(|object| object.full_name()).collect();
        let names = first_of(&names);
        let when = match delivery.puts_back {
            RevertTiming::AtOnce => "as soon as it sees another",
            RevertTiming::NextSync => "at each sync",
        };
        let message = format!("{} puts back the count of {names} {when}", self.name);
        let cure = match delivery.owner {
            OtherController::FluxHelmRelease => delivery.owner.fix(&kinds, self.prefix),
            owner => format!(
                "{}, or leave the count out of the files",
                owner.fix(&kinds, self.prefix)
            ),
        };
        let place = delivery.place.clone();
        self.findings
            .push(self.at(LintRule::PutBack, place, message, cure));
    }

    /// A ScaledObject of the workload, from the source `source`.
    fn scaled_object(
        &mut self,
        workload: &ManifestWorkload,
        source: usize,
        scaler: &OtherObject,
        scaled: &ScaledTarget,
    ) {
        let what = if scaled.min > 0 {
            format!("raises {} to {} after each stop", self.name, scaled.min)
        } else {
            format!(
                "raises {} after a stop while a trigger is active",
                self.name
            )
        };
        let message = format!("ScaledObject {} {what}", quote(&scaler.name));
        let help = self.schedule_in_its_place(workload, "ScaledObject", "scaledobjects")
            + ": a stop then pauses it";
        let place = Some((source, scaled.place.clone()));
        let finding = LintFinding::new(LintRule::Autoscaler, place, message, help);
        self.findings.push(finding.about(Some(self.name.clone())));
    }

    /// A Rollout that runs the pods of the workload in its place.
    fn rollout(
        &mut self,
        workload: &ManifestWorkload,
        source: usize,
        rollout: &OtherObject,
        scaled: &ScaledTarget,
    ) {
        let message = format!(
            "Rollout {} runs the pods of {} in its place, and scales it down itself",
            quote(&rollout.name),
            self.name
        );
        let help = self.schedule_in_its_place(workload, "Rollout", "rollouts.argoproj.io");
        let place = Some((source, scaled.place.clone()));
        let finding = LintFinding::new(LintRule::Autoscaler, place, message, help);
        self.findings.push(finding.about(Some(self.name.clone())));
    }

    /// How another object goes by the schedule in place of the workload. What is inherited cannot
    /// be moved: the other object inherits it too.
    fn schedule_in_its_place(
        &self,
        workload: &ManifestWorkload,
        other: &str,
        kinds: &str,
    ) -> String {
        let done = match workload.inputs.schedule_origin() {
            Some(Origin::Namespace | Origin::Scaler) => format!(
                "write {} on the {}: the {other} inherits the same schedule. Run",
                own_line(self.prefix, Key::Exclude, "true"),
                self.name.kind
            ),
            _ => format!("move the schedule to the {other}, and run"),
        };
        format!("{done} dayshift with --kinds=deployments,statefulsets,cronjobs,{kinds}")
    }

    /// An autoscaler of the workload, from the source `source`.
    fn autoscaler(
        &mut self,
        workload: &ManifestWorkload,
        source: usize,
        scaler: &OtherObject,
        scaled: &ScaledTarget,
    ) {
        let stop = workload.inputs.stop_replicas();
        let start = workload
            .inputs
            .text(Key::Replicas)
            .and_then(|text| Replicas::parse(text).ok());
        let is_exact = workload.inputs.text(Key::Scale).is_some();
        let message = if is_exact {
            format!(
                "HorizontalPodAutoscaler {} scales {} too: it changes every count above 0 that the \
                    schedule sets",
                scaler.name, self.name
            )
        } else if stop > Replicas::ZERO {
            format!(
                "HorizontalPodAutoscaler {} keeps scaling {} after a stop, which leaves {stop}",
                scaler.name, self.name
            )
        } else {
            let fits = |count: Replicas| {
                let count = u64::from(count.get());
                count == 1 || (scaled.min..=scaled.max.unwrap_or(u64::MAX)).contains(&count)
            };
            match start {
                Some(count) if fits(count) && count > Replicas::ZERO => return,
                Some(count) => format!(
                    "HorizontalPodAutoscaler {} does not let {} keep the {count} that a start sets",
                    scaler.name, self.name
                ),
                None => format!(
                    "HorizontalPodAutoscaler {} scales {} too: a start restores the count that the \
                        autoscaler had set at the stop",
                    scaler.name, self.name
                ),
            }
        };
        let help = if is_exact {
            format!(
                "write {} in place of {}, and {}: \"1\"; the autoscaler rests at 0 and takes over from 1",
                self.prefix.annotation(Key::Hours),
                self.prefix.annotation(Key::Scale),
                self.prefix.annotation(Key::Replicas),
            )
        } else {
            format!(
                "write {}: \"1\" on the {}, and no {}; the autoscaler rests at 0 and takes over from 1",
                self.prefix.annotation(Key::Replicas),
                self.name.kind,
                self.prefix.annotation(Key::StopReplicas)
            )
        };
        let place = Some((source, scaled.place.clone()));
        let finding = LintFinding::new(LintRule::Autoscaler, place, message, help);
        self.findings.push(finding.about(Some(self.name.clone())));
    }
}
