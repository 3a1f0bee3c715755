//! Where that which other tools' own objects and flags ask for comes to stand.

use std::collections::{HashMap, HashSet};

use dayshift_text::quote;
use dayshift_workload::Label;

use super::{
    meant::Meant,
    state::{KindOf, Work, kind_of},
};
use crate::{
    convert::{
        conversion::{Change, Target},
        document::{
            edit::{Changes, Pairs},
            objects::Document,
        },
        downscaler::{self, Context},
        finding::{Finding, ObjectName, Topic},
        tools::{
            cron_hpa, keda,
            request::{Request, Requests, Saved, Wanted},
            sleep_info, sleep_secret,
        },
    },
    manifest::Location,
};

impl Work<'_, '_> {
    /// The objects of kube-green, kubernetes-cronhpa-controller and KEDA.
    pub(crate) fn requests(&mut self) {
        let mut requests = Requests::of(&self.converter.prefix);
        let secrets = sleep_secret::all(&self.documents);
        let is_sleep_info =
            |it: &&Document<'_>| (it.group(), &*it.object.kind) == ("kube-green.com", "SleepInfo");
        let sleep_infos = self.documents.iter().filter(is_sleep_info);
        let turned_on = sleep_infos.flat_map(sleep_info::more_kinds).collect();
        for (at, document) in self.documents.iter().enumerate() {
            requests.document = at;
            match (document.group(), &*document.object.kind) {
                ("kube-green.com", "SleepInfo") => {
                    let object = &document.object;
                    let name = sleep_secret::name_of(&object.name);
                    let secret = secrets.get(&(object.namespace.clone(), name));
                    let secret = secret.map(|at| (*at, &self.documents[*at]));
                    sleep_info::convert(document, secret, &turned_on, &mut requests);
                }
                ("autoscaling.alibabacloud.com", "CronHorizontalPodAutoscaler") => {
                    cron_hpa::convert(document, self.converter, &mut requests);
                }
                ("keda.sh", "ScaledObject") => keda::convert(document, &mut requests),
                ("keda.sh", "ScaledJob") => keda::job(document, &mut requests),
                _ => {}
            }
        }
        for (at, finding) in requests.findings {
            self.tell(at, finding);
        }
        for (at, kind, place) in requests.opt_ins {
            self.opt_in(at, kind.name(), kind.argument(), place);
        }
        let mut seen: HashMap<Wanted, Pairs> = HashMap::new();
        let mut undone = HashSet::new();
        for request in requests.all {
            let from = request.from;
            let place = self.documents[from].node.place.clone();
            match seen.get(&request.wanted) {
                Some(known) if *known == request.pairs => continue,
                Some(_) if !request.is_exclusion() => {
                    self.say(
                        from,
                        Topic::Several,
                        "another object has asked for the same one already, and its schedule counts".to_owned(),
                        "write one schedule out of both by hand".to_owned(),
                        place,
                    );
                    undone.insert(from);
                    continue;
                }
                _ => {}
            }
            seen.insert(request.wanted.clone(), request.pairs.clone());
            if !self.land(&request, &place) {
                undone.insert(from);
            }
        }
        for (at, finding) in requests.when_done {
            if !undone.contains(&at) {
                self.tell(at, finding);
            }
        }
        for saved in requests.saved {
            self.save(saved);
        }
    }

    /// Labels an object with the count that another tool has saved for it.
    fn save(&mut self, saved: Saved) {
        let label = self.converter.prefix.label(Label::SavedReplicas);
        let Saved {
            from,
            object,
            count,
            value,
        } = saved;
        let message = format!(
            "kube-green has saved the count {count} for {object}; it is now the label {label}"
        );
        let help = "the next start brings it back".to_owned();
        let value = value.map(|it| (self.converter.prefix.label(Label::SavedValue), it.into()));
        let labels: Pairs = [(label, count.to_string())]
            .into_iter()
            .chain(value)
            .collect();
        let at = match self.meant(from, &object) {
            Meant::Document(at) => Some(at),
            Meant::Elsewhere => None,
            Meant::Unclear => {
                let place = self.documents[from].node.place.clone();
                return self.say_unclear(from, &object, &place);
            }
        };
        let place = self.documents[at.unwrap_or(from)].node.place.clone();
        let known = at.and_then(|at| self.documents[at].label(&labels[0].0));
        match (at, known) {
            // Converted before.
            (_, Some(known)) if known.parse().is_ok_and(|known: u32| known >= count) => return,
            (Some(at), None) => {
                let changes = Changes {
                    labels,
                    ..Changes::default()
                };
                self.take(at, changes, &place);
            }
            _ if !object.is_possible() => return self.say_impossible(from, &object, &place),
            // Less is what dayshift has saved where kube-green was first at a stop of both.
            _ => self.conversion.changes.push(Change {
                target: Target::Object(object),
                place: None,
                set: Vec::new(),
                remove: Vec::new(),
                labels,
            }),
        }
        self.say(at.unwrap_or(from), Topic::SavedCount, message, help, place);
    }

    /// Nothing is written where it may be meant for another cluster.
    fn say_unclear(&mut self, from: usize, object: &ObjectName, place: &Location) {
        let message = format!(
            "`{}` stands in other files, which may be for another cluster; they stay as they are",
            quote(&object.to_string())
        );
        let help = "convert each folder by itself, or write the namespace into both".to_owned();
        self.say(from, Topic::Unclear, message, help, place.clone());
    }

    /// No command is made of what no cluster can have: a shell may be what reads it.
    fn say_impossible(&mut self, from: usize, object: &ObjectName, place: &Location) {
        let message = format!(
            "it is about `{}`, which no cluster can have, and no command is printed for that",
            quote(&object.to_string())
        );
        let help = "name the kind, the API version and the name of a workload".to_owned();
        self.say(from, Topic::NotRead, message, help, place.clone());
    }

    /// Brings what is asked for to the documents among the files, or else into a command; whether all
    /// of it was taken.
    fn land(&mut self, request: &Request, place: &Location) -> bool {
        let prefix = &self.converter.prefix;
        let pairs: Pairs = request
            .pairs
            .iter()
            .map(|(key, text)| (prefix.full(key), text.clone()))
            .collect();
        let changes = Changes {
            added: pairs.clone(),
            ..Changes::default()
        };
        match &request.wanted {
            Wanted::Object(object) if matches!(kind_of(object, true), KindOf::Other) => {
                self.say_other_kind(request.from, &object.kind, place.clone());
                false
            }
            Wanted::Object(object) => match self.meant(request.from, object) {
                Meant::Document(at) => {
                    let place = self.documents[at].node.place.clone();
                    let is_taken = self.take(at, changes, &place);
                    if is_taken {
                        self.say_opt_in(at, object, place);
                    }
                    is_taken
                }
                Meant::Unclear => {
                    self.say_unclear(request.from, object, place);
                    false
                }
                Meant::Elsewhere if !object.is_possible() => {
                    self.say_impossible(request.from, object, place);
                    false
                }
                Meant::Elsewhere => {
                    let is_legal = self.accept(request.from, &pairs, place);
                    if is_legal {
                        self.say_opt_in(request.from, object, place.clone());
                        self.command(Target::Object(object.clone()), pairs);
                    }
                    is_legal
                }
            },
            Wanted::Some(selection) => {
                let found = self.documents.iter().enumerate();
                let found: Vec<_> = found
                    .filter(|(_, it)| selection.matches(it))
                    .map(|it| it.0)
                    .collect();
                let (beside, apart): (Vec<_>, Vec<_>) = found
                    .into_iter()
                    .partition(|at| self.is_beside(request.from, *at));
                if let Some(at) = apart.first() {
                    let object = self.documents[*at].object.clone();
                    self.say_unclear(request.from, &object, place);
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
                self.say(
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

    fn say_other_kind(&mut self, at: usize, kind: &str, place: Location) {
        let message = format!("dayshift does not scale a {}", quote(kind));
        let help = "write the schedule on the workload that it belongs to".to_owned();
        self.say(at, Topic::OtherKind, message, help, place);
    }

    /// Says that a kind has to be turned on, where it has to.
    fn say_opt_in(&mut self, at: usize, object: &ObjectName, place: Location) {
        if let KindOf::OptIn(kind) = kind_of(object, true) {
            self.opt_in(at, &object.kind, &kind, place);
        }
    }

    /// The other tool's flags, on every Namespace, but for what it says itself.
    pub(crate) fn flags(&mut self) {
        let converter = self.converter;
        if converter.flags.is_empty() {
            return;
        }
        let context = Context {
            now: converter.now,
            defaults: converter.defaults,
            prefix: &converter.prefix,
            kind: None,
            overrides: true,
        };
        let olds: Vec<_> = converter
            .flags
            .iter()
            .map(|(key, text)| (&**key, &**text))
            .collect();
        let outcome = downscaler::convert(&olds, context);
        for remark in outcome.remarks {
            let name = olds.get(remark.place.0).map_or("", |it| it.0);
            let message = format!("{}: {}", flag_name(name), remark.message);
            let finding = Finding::new(remark.rule, None, message, remark.help);
            self.conversion.findings.push(finding);
        }
        let replaced: Vec<_> = outcome
            .replaced
            .into_iter()
            .map(|(which, texts)| {
                let texts = texts.into_iter();
                let pairs = texts.map(|(key, text)| (converter.prefix.full(key), text));
                (olds[which].0, pairs.collect::<Pairs>())
            })
            .collect();
        let pairs_without = |is_own: &dyn Fn(&str) -> bool| -> Pairs {
            let kept = replaced.iter().filter(|it| !is_own(it.0));
            kept.flat_map(|it| it.1.iter().cloned()).collect()
        };
        let mut names: HashSet<String> = HashSet::new();
        for at in 0..self.documents.len() {
            let object = self.documents[at].object.clone();
            let is_namespace = object.kind == "Namespace" && !is_of_system(&object.name);
            if !is_namespace || !names.insert(object.name.clone()) {
                continue;
            }
            let own = self.documents[at].annotations();
            let added =
                pairs_without(&|flag| own.iter().any(|it| downscaler::is_same(it.key(), flag)));
            let place = self.documents[at].node.place.clone();
            self.take(
                at,
                Changes {
                    added,
                    ..Changes::default()
                },
                &place,
            );
        }
        let pairs = pairs_without(&|_| false);
        for name in &converter.flagged {
            if !pairs.is_empty() && names.insert(name.clone()) {
                let object = ObjectName::namespace(name);
                self.command(Target::Object(object), pairs.clone());
            }
        }
    }
}

fn is_of_system(name: &str) -> bool {
    name.starts_with("kube-")
}

fn flag_name(key: &str) -> String {
    match key {
        "uptime" | "downtime" => format!("--default-{key}"),
        key => format!("--{key}"),
    }
}
