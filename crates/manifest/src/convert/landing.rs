//! Applies the requests of other tools' objects: to the objects in the files, or else in commands.

use std::collections::HashSet;

use dayshift_text::quote;
use dayshift_workload::{Key, Label};

use crate::{
    convert::{
        conversion::{ChangeTarget, ObjectChange, ObjectRef, Topic},
        cron_hpa,
        document::Document,
        edit::{NamePairs, ObjectEdits},
        keda,
        kube_green::{self, secret},
        requests::{
            AnnotationRequest, AnnotationRequests, DocumentRequest, RequestTarget, SavedCount,
        },
        work::{ConversionRun, KindOf, ObjectLookup, kind_of},
    },
    objects::other::OtherTool,
    yaml::node::Location,
};

impl ConversionRun<'_, '_> {
    /// Reads the objects of kube-green, kubernetes-cronhpa-controller and KEDA, and applies their
    /// requests.
    pub(crate) fn requests(&mut self) {
        let mut requests =
            AnnotationRequests::new(&self.converter.prefix, &self.converter.defaults.tzdata);
        let secrets = secret::all(&self.documents);
        let is_sleep_info = |document: &&Document<'_>| {
            (document.group(), &*document.object.kind) == ("kube-green.com", "SleepInfo")
        };
        let sleep_infos = self.documents.iter().filter(is_sleep_info);
        let turned_on = sleep_infos.flat_map(kube_green::more_kinds).collect();
        for (at, document) in self.documents.iter().enumerate() {
            requests.document = at;
            match (document.group(), &*document.object.kind) {
                ("kube-green.com", "SleepInfo") => {
                    let object = &document.object;
                    let name = secret::name_of(&object.name);
                    let secret = secrets.get(&(object.namespace.clone(), name));
                    let secret = secret.map(|at| (*at, &self.documents[*at]));
                    kube_green::convert(document, secret, &turned_on, &mut requests);
                }
                ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => {
                    cron_hpa::convert(document, self.converter, &mut requests);
                }
                ("keda.sh", "ScaledObject") => keda::convert(document, &mut requests),
                ("keda.sh", "ScaledJob") => keda::job(document, &mut requests),
                (_, kind) => {
                    if let Some(tool) = OtherTool::find(&document.object.api_version, kind) {
                        requests.report(
                            Topic::NoEquivalent,
                            &document.node.place,
                            format!("this is a schedule of {}, which convert does not read", tool.name),
                            format!(
                                "write {} on the workloads that it scales, check them with dayshift plan, and delete it",
                                requests.name(Key::Hours)
                            ),
                        );
                    }
                }
            }
        }
        let (all, rejected) = requests.take_by_document();
        for (at, finding) in requests.findings {
            self.add_finding(at, finding);
        }
        for from in &rejected {
            let place = self.documents[*from].node.place.clone();
            self.report(
                *from,
                Topic::Several,
                "another object has asked for the same one already, and its schedule counts"
                    .to_owned(),
                "write one schedule out of both by hand".to_owned(),
                place,
            );
        }
        let mut undone: HashSet<usize> = rejected.into_iter().collect();
        for request in &all {
            if !self.land_document(request) {
                undone.extend(&request.documents);
            }
        }
        for (at, kind, place) in requests.opt_ins {
            if !undone.contains(&at) {
                self.opt_in(at, kind.name(), kind.argument(), place);
            }
        }
        for (at, finding) in requests.when_done {
            if !undone.contains(&at) {
                self.add_finding(at, finding);
            }
        }
        for saved in requests.saved {
            if !undone.contains(&saved.asked_by) {
                self.save(saved);
            }
        }
    }

    /// Applies all that a document asks for; returns whether all of it was applied. Without its
    /// schedule, a document excludes nothing: the other tool continues to act on its objects.
    fn land_document(&mut self, request: &DocumentRequest) -> bool {
        let mut is_done = true;
        for schedule in &request.schedules {
            let place = self.documents[schedule.from].node.place.clone();
            is_done &= self.land(schedule, &place);
        }
        if is_done {
            for exclusion in &request.exclusions {
                let place = self.documents[exclusion.from].node.place.clone();
                is_done &= self.land(exclusion, &place);
            }
        }
        is_done
    }

    /// Labels an object with the count that another tool has saved.
    fn save(&mut self, saved: SavedCount) {
        let label = self.converter.prefix.label(Label::SavedReplicas);
        let SavedCount {
            from,
            object,
            count,
            value,
            asked_by: _,
        } = saved;
        let message = format!(
            "kube-green has saved the count {count} for {object}; it is now the label {label}"
        );
        let help = "the next start brings it back".to_owned();
        let value =
            value.map(|value| (self.converter.prefix.label(Label::SavedValue), value.into()));
        let labels: NamePairs = [(label, count.to_string())]
            .into_iter()
            .chain(value)
            .collect();
        let at = match self.meant(from, &object) {
            ObjectLookup::Document(at) => Some(at),
            ObjectLookup::Elsewhere => None,
            ObjectLookup::Unclear => {
                let place = self.documents[from].node.place.clone();
                return self.report_unclear(from, &object, &place);
            }
        };
        let place = self.documents[at.unwrap_or(from)].node.place.clone();
        let known = at.and_then(|at| self.documents[at].label(&labels[0].0));
        match (at, known) {
            // It was converted before.
            (_, Some(known)) if known.parse().is_ok_and(|known: u32| known >= count) => return,
            (Some(at), None) => {
                let changes = ObjectEdits {
                    labels,
                    ..ObjectEdits::default()
                };
                self.take(at, changes, &place);
            }
            _ if !object.is_possible() => return self.report_impossible(from, &object, &place),
            // dayshift has saved a lower count if kube-green was first when both stopped the
            // object.
            _ => self.conversion.changes.push(ObjectChange {
                target: ChangeTarget::Object(object),
                place: None,
                set: Vec::new(),
                remove: Vec::new(),
                labels,
            }),
        }
        self.report(at.unwrap_or(from), Topic::SavedCount, message, help, place);
    }

    /// Reports an object that might belong to another cluster. It stays unchanged.
    fn report_unclear(&mut self, from: usize, object: &ObjectRef, place: &Location) {
        let message = format!(
            "`{}` stands in other files, which may be for another cluster; they stay as they are",
            quote(&object.to_string())
        );
        let help = "convert each directory by itself, or write the namespace into both".to_owned();
        self.report(from, Topic::Unclear, message, help, place.clone());
    }

    /// Reports an impossible object. Its name could be harmful in a command that a shell reads.
    fn report_impossible(&mut self, from: usize, object: &ObjectRef, place: &Location) {
        let message = format!(
            "it is about `{}`, which no cluster can have, and no command is printed for that",
            quote(&object.to_string())
        );
        let help = "name the kind, the API version and the name of a workload".to_owned();
        self.report(from, Topic::NotRead, message, help, place.clone());
    }

    /// Applies a request to the objects in the files, or else in a command. Returns whether all of
    /// it was applied.
    fn land(&mut self, request: &AnnotationRequest, place: &Location) -> bool {
        let prefix = &self.converter.prefix;
        let pairs: NamePairs = request
            .pairs
            .iter()
            .map(|(key, text)| (prefix.full(key), text.clone()))
            .collect();
        let changes = ObjectEdits {
            added: pairs.clone(),
            ..ObjectEdits::default()
        };
        match &request.wanted {
            RequestTarget::Object(object) if matches!(kind_of(object, true), KindOf::Other) => {
                self.report_other_kind(request.from, &object.kind, place.clone());
                false
            }
            RequestTarget::Object(object) => match self.meant(request.from, object) {
                ObjectLookup::Document(at) => {
                    let place = self.documents[at].node.place.clone();
                    let is_taken = self.take(at, changes, &place);
                    if is_taken {
                        self.report_opt_in(at, object, place);
                    }
                    is_taken
                }
                ObjectLookup::Unclear => {
                    self.report_unclear(request.from, object, place);
                    false
                }
                ObjectLookup::Elsewhere if !object.is_possible() => {
                    self.report_impossible(request.from, object, place);
                    false
                }
                ObjectLookup::Elsewhere => {
                    let is_legal = self.accept(request.from, &pairs, place);
                    if is_legal {
                        self.report_opt_in(request.from, object, place.clone());
                        self.command(ChangeTarget::Object(object.clone()), pairs);
                    }
                    is_legal
                }
            },
            RequestTarget::Some(selection) => {
                let found = self.documents.iter().enumerate();
                let found: Vec<_> = found
                    .filter(|(_, document)| selection.matches(document))
                    .map(|found| found.0)
                    .collect();
                let (beside, apart): (Vec<_>, Vec<_>) = found
                    .into_iter()
                    .partition(|at| self.is_beside(request.from, *at));
                if let Some(at) = apart.first() {
                    let object = self.documents[*at].object.clone();
                    self.report_unclear(request.from, &object, place);
                }
                let mut is_taken = apart.is_empty();
                for at in beside {
                    let place = self.documents[at].node.place.clone();
                    is_taken &= self.take(at, changes.clone(), &place);
                }
                if !self.accept(request.from, &pairs, place) {
                    return false;
                }
                self.command(selection.target(), pairs);
                self.report(
                    request.from,
                    Topic::Elsewhere,
                    request.reason.clone(),
                    "annotate new ones too; a command for those of the cluster is below".to_owned(),
                    place.clone(),
                );
                is_taken
            }
        }
    }

    fn report_other_kind(&mut self, at: usize, kind: &str, place: Location) {
        let message = format!("dayshift does not scale a {}", quote(kind));
        let help = "write the schedule on the workload that it belongs to".to_owned();
        self.report(at, Topic::OtherKind, message, help, place);
    }

    /// Reports that `--kinds` has to name a kind, if it has to.
    fn report_opt_in(&mut self, at: usize, object: &ObjectRef, place: Location) {
        if let KindOf::OptIn(kind) = kind_of(object, true) {
            self.opt_in(at, &object.kind, &kind, place);
        }
    }
}
