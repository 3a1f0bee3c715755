//! What another tool's own objects ask for on other objects.

use crate::convert::document::objects::Document;
use crate::convert::finding::{ObjectName, Topic};
use crate::{manifest::Location, text::shell_word};

/// Annotations of dayshift's by their short names, with their texts.
pub(in crate::convert) type Texts = Vec<(&'static str, String)>;

/// Which objects are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::convert) enum Wanted {
    /// One.
    Object(ObjectName),
    /// Those of some kinds in a namespace, with all of these labels.
    Some {
        /// Groups and kinds.
        kinds: Vec<(&'static str, &'static str)>,
        namespace: String,
        labels: Vec<(String, String)>,
    },
}

/// Annotations that are wanted on objects.
#[derive(Clone, Debug)]
pub(in crate::convert) struct Request {
    /// Which document asks.
    pub(in crate::convert) from: usize,
    pub(in crate::convert) wanted: Wanted,
    pub(in crate::convert) pairs: Vec<(String, String)>,
    /// Why objects that are not among the files have to be looked at.
    pub(in crate::convert) reason: String,
}

impl Request {
    /// Whether it only excludes.
    pub(in crate::convert) fn is_exclusion(&self) -> bool {
        self.pairs.iter().all(|(key, _)| key == "exclude")
    }
}

/// A count that another tool has saved for an object.
#[derive(Clone, Debug)]
pub(in crate::convert) struct Saved {
    /// Which document says so.
    pub(in crate::convert) from: usize,
    pub(in crate::convert) object: ObjectName,
    pub(in crate::convert) count: u32,
}

/// What is said at a place of the document.
#[derive(Clone, Debug)]
pub(in crate::convert) struct Remark {
    pub(in crate::convert) topic: Topic,
    pub(in crate::convert) message: String,
    pub(in crate::convert) help: String,
    pub(in crate::convert) place: Location,
}

/// What all documents ask for.
#[derive(Debug, Default)]
pub(in crate::convert) struct Requests {
    /// The document that is read.
    pub(in crate::convert) document: usize,
    pub(in crate::convert) all: Vec<Request>,
    pub(in crate::convert) saved: Vec<Saved>,
    pub(in crate::convert) remarks: Vec<(usize, Remark)>,
}

impl Requests {
    pub(in crate::convert) fn ask(
        &mut self,
        wanted: Wanted,
        texts: Texts,
        reason: impl Into<String>,
    ) {
        let pairs = texts.into_iter().map(|(key, text)| (key.to_owned(), text));
        self.all.push(Request {
            from: self.document,
            wanted,
            pairs: pairs.collect(),
            reason: reason.into(),
        });
    }

    pub(in crate::convert) fn say(
        &mut self,
        topic: Topic,
        place: &Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let remark = Remark {
            topic,
            message: message.into(),
            help: help.into(),
            place: place.clone(),
        };
        self.remarks.push((self.document, remark));
    }

    /// Says that the document is to be deleted after the move: `why`, and by which command. `when`
    /// comes before it.
    pub(in crate::convert) fn delete_after(
        &mut self,
        document: &Document<'_>,
        why: &str,
        when: &str,
    ) {
        let object = &document.object;
        let help = if object.is_possible() {
            let what = [
                object.resource(),
                object.name.clone(),
                object.namespace.clone(),
            ];
            let [resource, name, namespace] = what.each_ref().map(|it| shell_word(it));
            format!("{when}kubectl delete {resource} {name} -n {namespace}")
        } else {
            format!("{when}delete it")
        };
        self.say(Topic::DeleteAfter, &document.node.place, why, help);
    }
}
