//! Changes in the text of a file, by position: what is not changed stays letter by letter.

use std::ops::Range;

use super::editor::Editor;
pub(crate) use super::editor::NotEditable;
use super::style::Style;
use crate::convert::document::objects::Document;
use crate::manifest::{Entry, Node, Scalar};

/// A stretch of the text, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Names and texts.
pub(crate) type Pairs = Vec<(String, String)>;

/// What is to be changed on one object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Annotations that go, each with those that take its place.
    pub(crate) replaced: Vec<(String, Pairs)>,
    /// Annotations that come.
    pub(crate) added: Pairs,
    /// Labels that come.
    pub(crate) labels: Pairs,
}

/// The edits that make the changes.
pub(crate) fn edits(
    text: &str,
    document: &Document<'_>,
    changes: &Changes,
) -> Result<Vec<Edit>, NotEditable> {
    let Some(metadata) = own_entry(&document.node, "metadata") else {
        return Err(NotEditable("its metadata is not written on it"));
    };
    let editor = Editor { text };
    editor.check_own(metadata)?;
    let metadata = &*metadata.value;
    let mut edits = Vec::new();
    editor.annotations(metadata, changes, &mut edits)?;
    if !changes.labels.is_empty() {
        editor.add(metadata, "labels", &changes.labels, &mut edits)?;
    }
    Ok(editor.without_overlaps(edits))
}

/// The text with all edits made; they do not overlap.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = String::with_capacity(text.len() + edits.len() * 32);
    let mut at = 0;
    for edit in edits {
        result += text.get(at..edit.range.start)?;
        result += &edit.text;
        at = edit.range.end;
    }
    result += text.get(at..)?;
    Some(result)
}

/// The last entry of a name, as it counts.
fn own_entry<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Entry<'a>> {
    node.entries().iter().rfind(|it| it.name() == name)
}

impl Editor<'_> {
    /// What comes where something goes takes its place: labels in place of the last annotation.
    fn without_overlaps(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut all: Vec<Edit> = Vec::new();
        for edit in edits {
            let at = edit.range.start;
            match all.last_mut() {
                Some(gone) if at < gone.range.end && gone.text.is_empty() => {
                    let text = format!("{}{}", self.slice(gone.range.start..at), edit.text);
                    let line = text.trim_end_matches(' ');
                    let rest = line.trim_end().trim_end_matches(',');
                    let is_line = rest.len() == line.trim_end().len();
                    gone.text = if is_line { line } else { rest }.to_owned();
                }
                _ => all.push(edit),
            }
        }
        all
    }

    fn annotations(
        &self,
        metadata: &Node<'_>,
        changes: &Changes,
        edits: &mut Vec<Edit>,
    ) -> Result<(), NotEditable> {
        if changes.replaced.is_empty() {
            return if changes.added.is_empty() {
                Ok(())
            } else {
                self.add(metadata, "annotations", &changes.added, edits)
            };
        }
        let Some(entry) = own_entry(metadata, "annotations") else {
            return Err(NotEditable("its annotations are not written on it"));
        };
        self.check_own(entry)?;
        let map = &*entry.value;
        let is_flow = self.is_flow(map);
        let mut added = changes.added.clone();
        let mut removed = Vec::new();
        for (name, pairs) in &changes.replaced {
            let all: Vec<_> = map
                .entries()
                .iter()
                .filter(|it| it.name() == name)
                .collect();
            let Some((last, earlier)) = all.split_last() else {
                continue;
            };
            for it in earlier {
                removed.push(self.range(it)?);
            }
            let range = self.range(last)?;
            if pairs.is_empty() {
                removed.push(range);
                continue;
            }
            let before = self.before(range.start);
            if !is_flow && !before.chars().all(|it| it == ' ') {
                return Err(NotEditable(
                    "convert does not change the form of YAML in which it is written",
                ));
            }
            let style = Style::of(self.text, last, is_flow);
            let separator = self.separator(range.start, is_flow);
            edits.push(Edit {
                text: style.pairs(pairs, &separator),
                range,
            });
        }
        let all = map.entries().len();
        if removed.len() == all && added.is_empty() {
            return self.remove_map(metadata, entry, &removed, edits);
        }
        if removed.len() == all {
            // One of those that go makes room for those that come.
            let range = removed.remove(0);
            let style = Style::of(self.text, &map.entries()[0], is_flow);
            let separator = self.separator(range.start, is_flow);
            let text = style.pairs(&added, &separator);
            edits.push(Edit { range, text });
            added.clear();
        }
        removed.sort_by_key(|it| it.start);
        self.remove(map, &removed, is_flow, edits)?;
        if !added.is_empty() {
            let kept = map.entries().iter().find(|it| {
                !removed
                    .iter()
                    .any(|range| range.start == it.key.place.span.start)
            });
            let kept = kept.ok_or(NotEditable("nothing of it stays"))?;
            self.insert_before(kept, &added, is_flow, edits)?;
        }
        Ok(())
    }

    /// Writes pairs before an entry.
    fn insert_before(
        &self,
        entry: &Entry<'_>,
        pairs: &Pairs,
        is_flow: bool,
        edits: &mut Vec<Edit>,
    ) -> Result<(), NotEditable> {
        if entry.merged {
            return Err(NotEditable("a `<<` brings it in from another object"));
        }
        let at = entry.key.place.span.start;
        let separator = self.separator(at, is_flow);
        let style = Style::of(self.text, entry, is_flow);
        let text = style.pairs(pairs, &separator) + &separator;
        edits.push(Edit {
            range: at..at,
            text,
        });
        Ok(())
    }

    /// Removes entries of a map of which others stay.
    fn remove(
        &self,
        map: &Node<'_>,
        removed: &[Range<usize>],
        is_flow: bool,
        edits: &mut Vec<Edit>,
    ) -> Result<(), NotEditable> {
        if is_flow {
            let own: Vec<_> = map.entries().iter().filter(|it| !it.merged).collect();
            let mut kept_end = None;
            let mut pending: Option<Range<usize>> = None;
            for (nth, entry) in own.iter().enumerate() {
                let range = self.range(entry)?;
                if !removed.contains(&range) {
                    edits.extend(pending.take().map(|range| Edit {
                        range,
                        text: String::new(),
                    }));
                    kept_end = Some(range.end);
                    continue;
                }
                let next = own.get(nth + 1).map(|it| it.key.place.span.start);
                let begin = pending.as_ref().map_or(range.start, |it| it.start);
                pending = Some(match (next, kept_end) {
                    (Some(next), _) => begin..next,
                    (None, Some(kept)) => kept..range.end,
                    (None, None) => return Err(NotEditable("nothing of it stays")),
                });
            }
            edits.extend(pending.map(|range| Edit {
                range,
                text: String::new(),
            }));
            return Ok(());
        }
        for range in removed {
            edits.push(self.without_lines(range)?);
        }
        Ok(())
    }

    /// A removal of whole lines; a comment at the end of the last one stays.
    fn without_lines(&self, range: &Range<usize>) -> Result<Edit, NotEditable> {
        let before = self.before(range.start);
        if !before.chars().all(|it| it == ' ') {
            return Err(NotEditable(
                "convert does not change the form of YAML in which it is written",
            ));
        }
        let end = self.line_end(range.end);
        let rest = self.slice(range.end..end);
        let range = if rest.trim().is_empty() {
            let end = (end + 1).min(self.text.len());
            self.line_start(range.start)..end
        } else {
            range.start..range.end + rest.len() - rest.trim_start().len()
        };
        Ok(Edit {
            range,
            text: String::new(),
        })
    }

    /// Removes the annotations of an object that keeps none.
    fn remove_map(
        &self,
        metadata: &Node<'_>,
        entry: &Entry<'_>,
        removed: &[Range<usize>],
        edits: &mut Vec<Edit>,
    ) -> Result<(), NotEditable> {
        let range = self.range(entry)?;
        let is_flow = self.is_flow(metadata);
        if is_flow {
            return self.remove(metadata, &[range], true, edits);
        }
        let has_comment = self
            .slice(range.start..self.line_end(range.end))
            .contains('#');
        if self.is_flow(&entry.value) || !has_comment {
            edits.push(self.without_lines(&range)?);
            return Ok(());
        }
        // The comments in it stay.
        let colon = entry.key.place.span.end;
        let colon = colon
            + self
                .slice(colon..range.end)
                .find(':')
                .map_or(0, |at| at + 1);
        edits.push(Edit {
            range: colon..colon,
            text: " {}".to_owned(),
        });
        for range in removed {
            edits.push(self.without_lines(range)?);
        }
        Ok(())
    }

    /// Adds pairs to the map of that name in the metadata, which may not be there yet.
    fn add(
        &self,
        metadata: &Node<'_>,
        name: &str,
        pairs: &Pairs,
        edits: &mut Vec<Edit>,
    ) -> Result<(), NotEditable> {
        let is_flow = self.is_flow(metadata);
        if let Some(entry) = own_entry(metadata, name) {
            self.check_own(entry)?;
            let map = &*entry.value;
            let is_null = map.scalar() == Some(Scalar::Null);
            if let Some(first) = map.entries().first() {
                let is_flow = self.is_flow(map);
                return self.insert_before(first, pairs, is_flow, edits);
            }
            if !is_null && map.what() != "a map" {
                return Err(NotEditable("it is not a map"));
            }
            let range = self.range(entry)?;
            let text = self.map(name, pairs, entry, is_flow);
            edits.push(Edit { range, text });
            return Ok(());
        }
        let own: Vec<_> = metadata.entries().iter().filter(|it| !it.merged).collect();
        let is_name = |it: &&&Entry<'_>| matches!(it.name(), "name" | "namespace");
        let first = own.iter().position(|it| it.name() == "name");
        let at = first.map(|at| at + own.iter().skip(at + 1).take_while(is_name).count());
        let Some(anchor) = at.and_then(|at| own.get(at)) else {
            return Err(NotEditable("its name is not written on it"));
        };
        let text = self.map(name, pairs, anchor, is_flow);
        let next = at.and_then(|at| own.get(at + 1));
        if let Some(next) = next {
            let at = next.key.place.span.start;
            edits.push(Edit {
                range: at..at,
                text: text + &self.separator(at, is_flow),
            });
            return Ok(());
        }
        let separator = self.separator(anchor.key.place.span.start, is_flow);
        let range = self.range(anchor)?;
        let at = if is_flow {
            range.end
        } else {
            let end = self.line_end(range.end);
            let is_crlf = self.slice(range.end..end).ends_with('\r');
            end - usize::from(is_crlf)
        };
        edits.push(Edit {
            range: at..at,
            text: separator + &text,
        });
        Ok(())
    }

    /// A map with its name, to stand where `sibling` begins.
    fn map(&self, name: &str, pairs: &Pairs, sibling: &Entry<'_>, is_flow: bool) -> String {
        let at = sibling.key.place.span.start;
        let style = Style::of(self.text, sibling, is_flow).for_new_map();
        let name = style.key(name);
        if is_flow {
            let before = self.before(at);
            if !before.trim().is_empty() {
                return format!("{name}: {{{}}}", style.pairs(pairs, ", "));
            }
            let newline = self.newline(at);
            let unit = if before.contains('\t') { "\t" } else { "  " };
            let inner = format!("{newline}{before}{unit}");
            let text = style.pairs(pairs, &format!(",{inner}"));
            return format!("{name}: {{{inner}{text}{newline}{before}}}");
        }
        let indent = " ".repeat(self.before(at).chars().count() + 2);
        let inner = format!("{}{indent}", self.newline(at));
        format!("{name}:{inner}{}", style.pairs(pairs, &inner))
    }
}
