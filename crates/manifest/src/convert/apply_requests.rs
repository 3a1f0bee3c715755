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
        keda, kube_green,
        requests::{
            AnnotationRequests, ObjectSelection, RequestTarget, SavedCount, ScheduleRequest,
        },
        week::KeyTexts,
        work::{ConversionRun, KindOf, ObjectLookup, kind_of},
    },
    finding::Finding,
    objects::other::OtherTool,
    yaml::node::Location,
};

impl ConversionRun<'_, '_> {
    /// Reads the objects of kube-green, kubernetes-cronhpa-controller and KEDA, and applies their
    /// requests.
    pub(crate) fn requests(&mut self) {
        let mut requests = AnnotationRequests::new(self.converter);
        let is_sleep_info = |document: &&Document<'_>| {
            (document.group(), &*document.object.kind) == ("kube-green.com", "SleepInfo")
        };
        let sleep_infos = self.documents.iter().filter(is_sleep_info);
        let kinds_of_patches = sleep_infos
            .flat_map(|document| kube_green::more_kinds(document, self.converter))
            .collect();
        for (at, document) in self.documents.iter().enumerate() {
            requests.document = at;
            let converted = match (document.group(), &*document.object.kind) {
                ("kube-green.com", "SleepInfo") => {
                    let secret = self.document_of(at, &kube_green::secret_of(&document.object));
                    let secret = secret.map(|at| (at, &self.documents[at]));
                    kube_green::convert(document, secret, &kinds_of_patches, &mut requests)
                }
                ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => {
                    cron_hpa::convert(document, &mut requests)
                }
                ("keda.sh", "ScaledObject") => keda::convert(document, &mut requests),
                ("keda.sh", "ScaledJob") => keda::job(document),
                (_, kind) => match OtherTool::find(&document.object.api_version, kind) {
                    Some(tool) => Err(Finding::new(
                        Topic::NoEquivalent,
                        document.node.place.clone(),
                        format!(
                            "this is a schedule of {}, which convert does not read",
                            tool.name
                        ),
                        format!(
                            "write {} on the workloads that it scales, check them with dayshift plan, and delete it",
                            requests.name(Key::Hours)
                        ),
                    )),
                    None => Ok(()),
                },
            };
            requests
                .findings
                .extend(converted.err().map(|finding| (at, finding)));
        }
        let (all, rejected) = requests.take();
        for (at, finding) in requests.findings {
            self.add_finding(at, finding);
        }
        for from in &rejected {
            let message =
                "another object already schedules the same workload, and its schedule applies";
            let help = "combine both into one schedule manually";
            self.report(*from, Topic::Several, message, help, &self.place_of(*from));
        }
        let mut undone: HashSet<usize> = rejected.into_iter().collect();
        for request in &all {
            if !self.apply(request) {
                undone.extend(&request.documents);
            }
        }
        for (at, finding) in requests.when_done {
            if !undone.contains(&at) {
                self.add_finding(at, finding);
            }
        }
        for saved in requests.saved {
            if !undone.contains(&saved.requested_by) {
                self.save(saved);
            }
        }
    }

    /// Applies a request; returns whether all of it was applied. If its schedule is not applied, its
    /// exclusions are not either: the other tool continues to act on its objects.
    fn apply(&mut self, request: &ScheduleRequest) -> bool {
        let from = request.documents.first().copied().unwrap_or_default();
        let excluded = vec![(Key::Exclude, "true".to_owned())];
        self.apply_to_all(from, &request.targets, &request.texts)
            && self.apply_to_all(from, &request.exclusions, &excluded)
    }

    fn apply_to_all(&mut self, from: usize, targets: &[RequestTarget], texts: &KeyTexts) -> bool {
        let pairs = self.full_names(texts.clone());
        let mut is_done = true;
        for target in targets {
            is_done &= match target {
                RequestTarget::Object(object) => self.apply_to_object(from, object, &pairs),
                RequestTarget::Some(selection) => self.apply_to_some(from, selection, &pairs),
            };
        }
        is_done
    }

    fn place_of(&self, at: usize) -> Location {
        self.documents[at].node.place.clone()
    }

    /// Labels an object with the count that another tool has saved.
    fn save(&mut self, saved: SavedCount) {
        let label = self.converter.prefix.label(Label::SavedReplicas);
        let SavedCount {
            from,
            object,
            count,
            value,
            requested_by: _,
        } = saved;
        let saved_value = self.converter.prefix.label(Label::SavedValue);
        let mut labels = vec![(label.clone(), count.to_string())];
        labels.extend(value.map(|value| (saved_value, value.into())));
        let found = match self.find_object(from, &object) {
            ObjectLookup::Document(at) => Some(at),
            ObjectLookup::Elsewhere => None,
            ObjectLookup::Unclear => return self.report_unclear(from, &object),
        };
        let at = found.unwrap_or(from);
        let place = self.place_of(at);
        let message = format!(
            "kube-green has saved the count {count} for {object}; it is now the label {label}"
        );
        let known = found.and_then(|at| self.documents[at].label(&label));
        match known {
            // It was converted before.
            Some(known) if known.parse().is_ok_and(|known: u32| known >= count) => return,
            None if found.is_some() => {
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
        let help = "the next start restores it";
        self.report(at, Topic::SavedCount, message, help, &place);
    }

    /// Reports an object that might belong to another cluster. It stays unchanged.
    fn report_unclear(&mut self, from: usize, object: &ObjectRef) {
        let message = format!(
            "`{}` is in other files, which might be for another cluster; they are unchanged",
            quote(&object.to_string())
        );
        let help = "convert each directory by itself, or write the namespace into both";
        self.report(from, Topic::Unclear, message, help, &self.place_of(from));
    }

    /// Reports an object that cannot exist. Its name could be harmful in a shell command.
    fn report_impossible(&mut self, from: usize, object: &ObjectRef, place: &Location) {
        let message = format!(
            "it is about `{}`, which cannot exist in a cluster, so no command is printed",
            quote(&object.to_string())
        );
        let help = "name the kind, the API version and the name of a workload";
        self.report(from, Topic::NotRead, message, help, place);
    }

    /// Writes annotations on an object of the files, or else in a command. Returns whether it did.
    fn apply_to_object(&mut self, from: usize, object: &ObjectRef, pairs: &NamePairs) -> bool {
        let place = self.place_of(from);
        let kind = kind_of(object, true);
        if matches!(kind, KindOf::Other) {
            let message = format!("dayshift does not scale a {}", quote(&object.kind));
            let help = "write the schedule on the workload that it belongs to";
            self.report(from, Topic::OtherKind, message, help, &place);
            return false;
        }
        let at = match self.find_object(from, object) {
            ObjectLookup::Document(at) => {
                let changes = ObjectEdits::adding(pairs.clone());
                if !self.take(at, changes, &self.place_of(at)) {
                    return false;
                }
                at
            }
            ObjectLookup::Unclear => {
                self.report_unclear(from, object);
                return false;
            }
            ObjectLookup::Elsewhere if !object.is_possible() => {
                self.report_impossible(from, object, &place);
                return false;
            }
            ObjectLookup::Elsewhere => {
                if !self.accept(from, pairs, &place) {
                    return false;
                }
                self.command(ChangeTarget::Object(object.clone()), pairs.clone());
                from
            }
        };
        if let KindOf::OptIn(resource) = kind {
            self.opt_in(at, &object.kind, &resource, &self.place_of(at));
        }
        true
    }

    /// Writes annotations on the selected objects in the files, and in a command for the others.
    fn apply_to_some(
        &mut self,
        from: usize,
        selection: &ObjectSelection,
        pairs: &NamePairs,
    ) -> bool {
        let found = self.documents.iter().enumerate();
        let found = found.filter(|(_, document)| selection.matches(document));
        let (beside, apart): (Vec<_>, Vec<_>) = found
            .map(|(at, _)| at)
            .partition(|at| self.is_beside(from, *at));
        if let Some(at) = apart.first() {
            let object = self.documents[*at].object.clone();
            self.report_unclear(from, &object);
        }
        let mut is_taken = apart.is_empty();
        for at in beside {
            let changes = ObjectEdits::adding(pairs.clone());
            is_taken &= self.take(at, changes, &self.place_of(at));
        }
        let place = self.place_of(from);
        if !self.accept(from, pairs, &place) {
            return false;
        }
        self.command(selection.target(), pairs.clone());
        let help = "annotate new objects too; the command for existing ones is below";
        self.report(from, Topic::Elsewhere, &*selection.reason, help, &place);
        is_taken
    }
}
