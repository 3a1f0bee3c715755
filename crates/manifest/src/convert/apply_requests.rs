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
            AnnotationRequest, AnnotationRequests, DocumentRequest, ObjectSelection, RequestTarget,
            SavedCount,
        },
        work::{ConversionRun, KindOf, ObjectLookup, ReplicasField, kind_of},
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
        let kinds_of_patches = sleep_infos.flat_map(kube_green::more_kinds).collect();
        for (at, document) in self.documents.iter().enumerate() {
            requests.document = at;
            match (document.group(), &*document.object.kind) {
                ("kube-green.com", "SleepInfo") => {
                    let object = &document.object;
                    let name = secret::name_of(&object.name);
                    let secret = secrets.get(&(object.namespace.clone(), name));
                    let secret = secret.map(|at| (*at, &self.documents[*at]));
                    kube_green::convert(document, secret, &kinds_of_patches, &mut requests);
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
        let (all, rejected) = requests.take_documents();
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
            if !self.apply_document(request) {
                undone.extend(&request.documents);
            }
        }
        for (at, kind, place) in requests.opt_ins {
            if !undone.contains(&at) {
                self.opt_in(at, kind.name(), kind.argument(), &place);
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

    /// Applies all requests of a document; returns whether all were applied. If its schedule is not
    /// applied, its exclusions are not either: the other tool continues to act on its objects.
    fn apply_document(&mut self, request: &DocumentRequest) -> bool {
        let mut is_done = true;
        for schedule in &request.schedules {
            is_done &= self.apply_request(schedule);
        }
        if is_done {
            for exclusion in &request.exclusions {
                is_done &= self.apply_request(exclusion);
            }
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
        let at = match self.find_object(from, &object) {
            ObjectLookup::Document(at) => Some(at),
            ObjectLookup::Elsewhere => None,
            ObjectLookup::Unclear => return self.report_unclear(from, &object),
        };
        let message = format!(
            "kube-green has saved the count {count} for {object}; it is now the label {label}"
        );
        let known = at.and_then(|at| self.documents[at].label(&label));
        match (at, known) {
            // It was converted before.
            (_, Some(known)) if known.parse().is_ok_and(|known: u32| known >= count) => return,
            (Some(at), None) => {
                let changes = ObjectEdits {
                    labels,
                    ..ObjectEdits::default()
                };
                self.take(at, changes, &self.place_of(at));
            }
            _ if !object.is_possible() => {
                return self.report_impossible(from, &object, &self.place_of(at.unwrap_or(from)));
            }
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
        let (at, help) = (at.unwrap_or(from), "the next start restores it");
        self.report(at, Topic::SavedCount, message, help, &self.place_of(at));
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

    /// Applies a request to the objects in the files, or else in a command. Returns whether all of
    /// it was applied.
    fn apply_request(&mut self, request: &AnnotationRequest) -> bool {
        let from = request.from;
        let place = self.place_of(from);
        let prefix = &self.converter.prefix;
        let pairs = request.pairs.iter();
        let pairs: NamePairs = pairs
            .map(|(key, text)| (prefix.full(key), text.clone()))
            .collect();
        let changes = ObjectEdits::adding(pairs.clone());
        let object = match &request.wanted {
            RequestTarget::Object(object) => object,
            RequestTarget::Some(selection) => {
                return self.apply_to_selection(request, selection, &changes);
            }
        };
        if matches!(kind_of(object, ReplicasField::Unknown), KindOf::Other) {
            let message = format!("dayshift does not scale a {}", quote(&object.kind));
            let help = "write the schedule on the workload that it belongs to";
            self.report(from, Topic::OtherKind, message, help, &place);
            return false;
        }
        let (at, is_done) = match self.find_object(from, object) {
            ObjectLookup::Document(at) => (at, self.take(at, changes, &self.place_of(at))),
            ObjectLookup::Unclear => {
                self.report_unclear(from, object);
                return false;
            }
            ObjectLookup::Elsewhere if !object.is_possible() => {
                self.report_impossible(from, object, &place);
                return false;
            }
            ObjectLookup::Elsewhere => (from, self.accept(from, &pairs, &place)),
        };
        if is_done {
            if let KindOf::OptIn(kind) = kind_of(object, ReplicasField::Unknown) {
                self.opt_in(at, &object.kind, &kind, &self.place_of(at));
            }
            if self.find_object(from, object) == ObjectLookup::Elsewhere {
                self.command(ChangeTarget::Object(object.clone()), pairs);
            }
        }
        is_done
    }

    /// Applies a request to the selected objects in the files, and in a command for the others.
    fn apply_to_selection(
        &mut self,
        request: &AnnotationRequest,
        selection: &ObjectSelection,
        changes: &ObjectEdits,
    ) -> bool {
        let from = request.from;
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
            is_taken &= self.take(at, changes.clone(), &self.place_of(at));
        }
        let place = self.place_of(from);
        if !self.accept(from, &changes.added, &place) {
            return false;
        }
        self.command(selection.target(), changes.added.clone());
        let help = "annotate new objects too; the command for existing ones is below";
        self.report(from, Topic::Elsewhere, &*request.reason, help, &place);
        is_taken
    }
}
