//! The changes made in the texts.

use std::{collections::BTreeMap, rc::Rc};

use super::state::Work;
use crate::convert::conversion::{Change, Target};
use crate::convert::document::edit::{Changes, NotEditable, apply, edits};
use crate::convert::document::verify::is_as_meant;
use crate::convert::finding::Topic;
use crate::manifest::Node;

impl<'a> Work<'_, 'a> {
    /// Makes the changes in the texts, and looks whether they are what was meant.
    pub(crate) fn write(&mut self, trees: &[Option<Vec<Rc<Node<'a>>>>]) {
        let elsewhere = std::mem::take(&mut self.conversion.changes);
        let mut by_source: BTreeMap<usize, Vec<(usize, Changes)>> = BTreeMap::new();
        for (document, changes) in std::mem::take(&mut self.pending) {
            let source = self.documents[document].source;
            by_source
                .entry(source)
                .or_default()
                .push((document, changes));
        }
        for (at, (source, nodes)) in self.sources.iter().zip(trees).enumerate() {
            let of_source = by_source.remove(&at).unwrap_or_default();
            let mut all = Vec::new();
            let mut made = Vec::new();
            for (document, changes) in of_source {
                match edits(source.text(), &self.documents[document], &changes) {
                    Ok(edits) => {
                        all.extend(edits);
                        made.push((document, changes));
                    }
                    Err(error) => self.report_not_editable(document, &changes, error),
                }
            }
            let text = nodes.as_ref().filter(|_| !all.is_empty()).map(|nodes| {
                let text = apply(source.text(), all).unwrap_or_default();
                let changes = made.iter().map(|(at, it)| (&self.documents[*at].node, it));
                is_as_meant(nodes, changes, &text).then_some(text)
            });
            match text {
                None => self.conversion.texts.push(None),
                Some(Some(text)) => {
                    self.conversion.texts.push(Some(text));
                    for (document, changes) in made {
                        let change = self.change(document, changes);
                        self.conversion.changes.push(change);
                    }
                }
                Some(None) => {
                    self.conversion.texts.push(None);
                    for (document, changes) in made {
                        let error = NotEditable("the file would mean something else afterwards");
                        self.report_not_editable(document, &changes, error);
                    }
                }
            }
        }
        self.conversion.changes.extend(elsewhere);
    }

    pub(crate) fn change(&self, document: usize, changes: Changes) -> Change {
        let document = &self.documents[document];
        let remove = changes.replaced.iter().map(|it| it.0.clone()).collect();
        let set = changes.replaced.into_iter().flat_map(|it| it.1);
        Change {
            target: Target::Object(document.object.clone()),
            place: Some((document.source, document.node.place.clone())),
            set: set.chain(changes.added).collect(),
            remove,
            labels: changes.labels,
        }
    }

    pub(crate) fn report_not_editable(
        &mut self,
        document: usize,
        changes: &Changes,
        error: NotEditable,
    ) {
        let replaced = changes.replaced.iter().flat_map(|it| &it.1);
        let all = replaced.chain(&changes.added).chain(&changes.labels);
        let texts: Vec<_> = all
            .map(|(name, text)| format!("{name}: \"{text}\""))
            .collect();
        let place = self.documents[document].node.place.clone();
        self.say(
            document,
            Topic::NotEditable,
            format!("the object cannot be changed in this file: {}", error.0),
            format!("write it by hand: {}", texts.join(", ")),
            place,
        );
    }
}
