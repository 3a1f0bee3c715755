//! Edits the text of a file by position, so that everything else stays verbatim, in the style of the
//! surrounding entries: block or flow, and their quotes. Then verifies that only the intended changes
//! differ from the original.

use std::{collections::HashMap, mem, ops::Range, ptr, rc::Rc};

use serde_json::{Map, Value};

use crate::{
    convert::document::Document,
    source::SourceFile,
    yaml::node::{MapEntry, Node, Scalar},
};

/// A span of the text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    fn removal(range: Range<usize>) -> Self {
        let text = String::new();
        Self { range, text }
    }

    fn insertion(at: usize, text: String) -> Self {
        let range = at..at;
        Self { range, text }
    }
}

/// Names and values.
pub(crate) type NamePairs = Vec<(String, String)>;

/// The changes of one object's metadata.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectEdits {
    /// Removed annotations, each with those that replace it.
    pub(crate) replaced: Vec<(String, NamePairs)>,
    /// Added annotations.
    pub(crate) added: NamePairs,
    /// Added labels.
    pub(crate) labels: NamePairs,
}

impl ObjectEdits {
    pub(crate) fn adding(added: NamePairs) -> Self {
        Self {
            added,
            ..Self::default()
        }
    }

    /// The annotations that the object gets.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &(String, String)> + Clone {
        let replaced = self.replaced.iter();
        replaced
            .flat_map(|replacement| &replacement.1)
            .chain(&self.added)
    }
}

/// Computes the edits for an object's changes.
pub(crate) fn edits(
    text: &str,
    document: &Document<'_>,
    changes: &ObjectEdits,
) -> Result<Vec<Edit>, NotEditable> {
    let Some(metadata) = own_entry(&document.node, "metadata") else {
        return Err(NotEditable("it has no metadata of its own"));
    };
    let mut editor = Editor {
        text,
        edits: Vec::new(),
    };
    editor.check_own(metadata)?;
    editor.annotations(&metadata.value, changes)?;
    editor.add(&metadata.value, "labels", &changes.labels)?;
    Ok(editor.without_overlaps())
}

/// Applies edits, which must not overlap.
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

/// The last entry with a name, which is the one that counts.
fn own_entry<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n MapEntry<'a>> {
    node.entries().iter().rfind(|entry| entry.name() == name)
}

impl Editor<'_> {
    /// Merges an insertion into a removal at the same place, for example labels that replace the
    /// last annotation.
    fn without_overlaps(mut self) -> Vec<Edit> {
        let mut edits = mem::take(&mut self.edits);
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
        &mut self,
        metadata: &Node<'_>,
        changes: &ObjectEdits,
    ) -> Result<(), NotEditable> {
        if changes.replaced.is_empty() {
            return self.add(metadata, "annotations", &changes.added);
        }
        let Some(entry) = own_entry(metadata, "annotations") else {
            return Err(NotEditable("it has no annotations of its own"));
        };
        self.check_own(entry)?;
        let map = &*entry.value;
        // The new pairs in place of each entry; none if it is removed, `None` if it is kept.
        let mut pairs_of: Vec<Option<NamePairs>> = Vec::new();
        for entry in map.entries() {
            let mut replaced = changes.replaced.iter();
            let pairs = replaced.find(|(name, _)| name == entry.name());
            let is_last = own_entry(map, entry.name()).is_some_and(|last| ptr::eq(last, entry));
            pairs_of.push(pairs.map(|(_, pairs)| match is_last {
                true => pairs.clone(),
                false => NamePairs::new(),
            }));
        }
        // Added annotations come before the first one that stays, or replace the first one.
        if !changes.added.is_empty() {
            let is_removed = |pairs: &Option<NamePairs>| pairs.as_ref().is_some_and(Vec::is_empty);
            let first = pairs_of.iter().position(|pairs| !is_removed(pairs));
            let first = first.unwrap_or_default();
            match pairs_of.get_mut(first) {
                Some(Some(pairs)) => *pairs = [&changes.added[..], &pairs[..]].concat(),
                Some(None) => self.insert_before(map, first, &changes.added)?,
                None => return Err(NotEditable("it has no annotations of its own")),
            }
        }
        let mut removed = Vec::new();
        for (entry, pairs) in map.entries().iter().zip(pairs_of) {
            let Some(pairs) = pairs else { continue };
            let range = self.range(entry)?;
            if pairs.is_empty() {
                removed.push(range);
                continue;
            }
            let before = self.before(range.start);
            if self.map_style(map) == MapStyle::Block && !before.chars().all(|c| c == ' ') {
                return Err(OTHER_FORM);
            }
            let text = self.pairs_like(map, entry, &pairs);
            self.edits.push(Edit { range, text });
        }
        if removed.len() == map.entries().len() {
            return self.remove_map(metadata, entry, &removed);
        }
        self.remove(map, &removed)
    }

    /// The text of pairs in the style of an entry.
    fn pairs_like(&self, map: &Node<'_>, entry: &MapEntry<'_>, pairs: &NamePairs) -> String {
        let map_style = self.map_style(map);
        let separator = self.separator(entry.key.place.span.start, map_style);
        EntryStyle::from_entry(self.text, entry, map_style).pairs(pairs, &separator)
    }

    /// Inserts pairs before an entry of a map.
    fn insert_before(
        &mut self,
        map: &Node<'_>,
        index: usize,
        pairs: &NamePairs,
    ) -> Result<(), NotEditable> {
        let entry = &map.entries()[index];
        if entry.merged {
            return Err(NotEditable("a `<<` merges it from another object"));
        }
        let at = entry.key.place.span.start;
        let text = self.pairs_like(map, entry, pairs) + &self.separator(at, self.map_style(map));
        self.edits.push(Edit::insertion(at, text));
        Ok(())
    }

    /// Removes entries of a map that keeps others.
    fn remove(&mut self, map: &Node<'_>, removed: &[Range<usize>]) -> Result<(), NotEditable> {
        if self.map_style(map) == MapStyle::Block {
            for range in removed {
                let edit = self.without_lines(range)?;
                self.edits.push(edit);
            }
            return Ok(());
        }
        let own: Vec<_> = map.entries().iter().filter(|entry| !entry.merged).collect();
        let ranges: Vec<_> = own
            .iter()
            .map(|entry| self.range(entry))
            .collect::<Result<_, _>>()?;
        let last_kept = ranges.iter().rposition(|range| !removed.contains(range));
        let last_kept = last_kept.ok_or(NotEditable("no entry remains"))?;
        for (at, range) in ranges.iter().enumerate() {
            if removed.contains(range) {
                // The commas around it belong to the entry, except the last one that is kept.
                self.edits.push(Edit::removal(if at < last_kept {
                    range.start..ranges[at + 1].start
                } else {
                    ranges[at - 1].end..range.end
                }));
            }
        }
        Ok(())
    }

    /// Removes whole lines. A comment at the end of the last one is kept.
    fn without_lines(&self, range: &Range<usize>) -> Result<Edit, NotEditable> {
        let before = self.before(range.start);
        if !before.chars().all(|letter| letter == ' ') {
            return Err(OTHER_FORM);
        }
        let end = self.line_end(range.end);
        let rest = self.slice(range.end..end);
        let range = if rest.trim().is_empty() {
            let end = (end + 1).min(self.text.len());
            self.line_start(range.start)..end
        } else {
            range.start..range.end + rest.len() - rest.trim_start().len()
        };
        Ok(Edit::removal(range))
    }

    /// Removes the annotations of an object that keeps none.
    fn remove_map(
        &mut self,
        metadata: &Node<'_>,
        entry: &MapEntry<'_>,
        removed: &[Range<usize>],
    ) -> Result<(), NotEditable> {
        let range = self.range(entry)?;
        if self.map_style(metadata) == MapStyle::Flow {
            return self.remove(metadata, &[range]);
        }
        let has_comment = self
            .slice(range.start..self.line_end(range.end))
            .contains('#');
        if self.map_style(&entry.value) == MapStyle::Flow || !has_comment {
            let edit = self.without_lines(&range)?;
            self.edits.push(edit);
            return Ok(());
        }
        // Keeps the comments in it.
        let key = entry.key.place.span.end;
        let colon = self.slice(key..range.end).find(':');
        let at = key + colon.map_or(0, |at| at + 1);
        self.edits.push(Edit::insertion(at, " {}".to_owned()));
        self.remove(&entry.value, removed)
    }

    /// Adds pairs to a map of the metadata, and the map itself if it is missing.
    fn add(
        &mut self,
        metadata: &Node<'_>,
        name: &str,
        pairs: &NamePairs,
    ) -> Result<(), NotEditable> {
        if pairs.is_empty() {
            return Ok(());
        }
        let map_style = self.map_style(metadata);
        if let Some(entry) = own_entry(metadata, name) {
            self.check_own(entry)?;
            let map = &*entry.value;
            let is_null = map.scalar() == Some(Scalar::Null);
            if !map.entries().is_empty() {
                return self.insert_before(map, 0, pairs);
            }
            if !is_null && map.type_name() != "a map" {
                return Err(NotEditable("it is not a map"));
            }
            let range = self.range(entry)?;
            let text = self.map(name, pairs, entry, map_style);
            self.edits.push(Edit { range, text });
            return Ok(());
        }
        let own: Vec<_> = metadata
            .entries()
            .iter()
            .filter(|entry| !entry.merged)
            .collect();
        let is_name = |entry: &&&MapEntry<'_>| matches!(entry.name(), "name" | "namespace");
        let first = own.iter().position(|entry| entry.name() == "name");
        let at = first.map(|at| at + own.iter().skip(at + 1).take_while(is_name).count());
        let Some(anchor) = at.and_then(|at| own.get(at)) else {
            return Err(NotEditable("it has no name of its own"));
        };
        let text = self.map(name, pairs, anchor, map_style);
        let next = at.and_then(|at| own.get(at + 1));
        if let Some(next) = next {
            let at = next.key.place.span.start;
            let text = text + &self.separator(at, map_style);
            self.edits.push(Edit::insertion(at, text));
            return Ok(());
        }
        let separator = self.separator(anchor.key.place.span.start, map_style);
        let range = self.range(anchor)?;
        let at = if map_style == MapStyle::Flow {
            range.end
        } else {
            let end = self.line_end(range.end);
            let is_crlf = self.slice(range.end..end).ends_with('\r');
            end - usize::from(is_crlf)
        };
        self.edits.push(Edit::insertion(at, separator + &text));
        Ok(())
    }

    /// A map with its name, written at the position of `sibling`.
    fn map(
        &self,
        name: &str,
        pairs: &NamePairs,
        sibling: &MapEntry<'_>,
        map_style: MapStyle,
    ) -> String {
        let at = sibling.key.place.span.start;
        let style = EntryStyle::from_entry(self.text, sibling, map_style).for_new_map();
        let name = style.key(name);
        if map_style == MapStyle::Flow {
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

/// Why an entry cannot be edited by position, for example an alias, a merge or an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotEditable(pub(crate) &'static str);

const OTHER_FORM: NotEditable = NotEditable("convert does not edit this form of YAML");

/// The text of an edited file, and its edits.
struct Editor<'t> {
    text: &'t str,
    edits: Vec<Edit>,
}

impl Editor<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Rejects an entry whose value does not follow its key, or that an alias can refer to.
    fn check_own(&self, entry: &MapEntry<'_>) -> Result<(), NotEditable> {
        if entry.merged {
            return Err(NotEditable("a `<<` merges it from another object"));
        }
        let (key, value) = (&entry.key.place.span, &entry.value.place.span);
        if value.is_empty() {
            return Ok(());
        }
        if value.start < key.end {
            return Err(NotEditable("it is an alias"));
        }
        let between = self.slice(key.end..value.start).trim_start();
        let Some(between) = between.strip_prefix(':') else {
            return Err(OTHER_FORM);
        };
        let is_map = entry.value.type_name() == "a map";
        let mut lines = between
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        if lines.any(|line| line.contains('&')) || !is_map && between.contains('#') {
            return Err(NotEditable("an anchor or a comment precedes its value"));
        }
        Ok(())
    }

    /// The range from the key to the end of the value, without trailing blanks.
    fn range(&self, entry: &MapEntry<'_>) -> Result<Range<usize>, NotEditable> {
        self.check_own(entry)?;
        let key = &entry.key.place.span;
        let value = &entry.value.place.span;
        let whole = self.slice(key.start..value.end.max(key.end)).trim_end();
        let mut end = key.start + whole.len();
        if value.is_empty() {
            let rest = self.slice(key.end..self.text.len());
            let colon = rest.find(':').filter(|at| rest[..*at].trim().is_empty());
            end = key.end + colon.map_or(0, |at| at + 1);
        }
        Ok(key.start..end.max(key.end))
    }

    fn line_start(&self, at: usize) -> usize {
        self.slice(0..at)
            .rfind('\n')
            .map_or(0, |newline| newline + 1)
    }

    /// The part of the line before a position.
    fn before(&self, at: usize) -> &str {
        self.slice(self.line_start(at)..at)
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        at + rest.find('\n').unwrap_or(rest.len())
    }

    fn newline(&self, at: usize) -> &'static str {
        let end = self.line_end(at);
        let previous = self.slice(0..self.line_start(at));
        if self.slice(at..end).ends_with('\r') || previous.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    fn map_style(&self, map: &Node<'_>) -> MapStyle {
        if self.slice(map.place.span.clone()).starts_with('{') {
            MapStyle::Flow
        } else {
            MapStyle::Block
        }
    }

    /// The text between two entries of a map, the second of which begins at `at`.
    fn separator(&self, at: usize, map_style: MapStyle) -> String {
        let before = self.before(at);
        let is_first = before.trim().is_empty();
        match (map_style, is_first) {
            (MapStyle::Flow, true) => format!(",{}{before}", self.newline(at)),
            (MapStyle::Flow, false) => ", ".to_owned(),
            (MapStyle::Block, _) => {
                format!("{}{}", self.newline(at), " ".repeat(before.chars().count()))
            }
        }
    }
}

/// How an entry is written.
#[derive(Clone, Copy, Debug)]
struct EntryStyle {
    /// The key is in double quotes, as in JSON.
    is_json: bool,
    map_style: MapStyle,
    quote: Quote,
}

/// How a map is written in YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapStyle {
    /// An entry on each line.
    Block,
    /// `{a: 1, b: 2}`, as in JSON.
    Flow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl EntryStyle {
    fn from_entry(text: &str, entry: &MapEntry<'_>, map_style: MapStyle) -> Self {
        let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
        let key = slice(entry.key.place.span.clone());
        let value = slice(entry.value.place.span.clone());
        let between = entry.key.place.span.end..entry.value.place.span.start;
        let is_block = slice(between).contains(['>', '|']);
        let is_text = !is_block && entry.value.scalar() == Some(Scalar::Text);
        let is_json = key.starts_with('"');
        let quote = match value.as_bytes().first() {
            _ if is_json => Quote::Double,
            Some(b'\'') => Quote::Single,
            Some(b'"') | None => Quote::Double,
            Some(_) if is_text => Quote::None,
            Some(_) => Quote::Double,
        };
        Self {
            is_json,
            map_style,
            quote,
        }
    }

    /// The style of a new map. Its values have quotes, as is common for annotations.
    fn for_new_map(self) -> Self {
        let quote = match self.quote {
            Quote::None if self.map_style == MapStyle::Block => Quote::Double,
            quote => quote,
        };
        Self { quote, ..self }
    }

    fn key(self, name: &str) -> String {
        if self.is_json {
            format!("\"{name}\"")
        } else {
            name.to_owned()
        }
    }

    fn value(self, text: &str) -> String {
        match self.quote {
            Quote::None if self.is_plain(text) => text.to_owned(),
            Quote::Single if !text.contains(char::is_control) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => Value::from(text).to_string(),
        }
    }

    /// Whether a text without quotes is that text in YAML.
    fn is_plain(self, text: &str) -> bool {
        let first = |letter: char| letter.is_ascii_alphabetic();
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || " :;-/_.+".contains(letter);
        text.starts_with(first)
            && text
                .chars()
                .all(|letter| is_safe(letter) || letter == ',' && self.map_style == MapStyle::Block)
            && !text.contains(": ")
            && !text.ends_with([':', ' '])
            && Scalar::parse(text) == Scalar::Text
    }

    fn pairs(self, pairs: &[(String, String)], separator: &str) -> String {
        let pairs = pairs.iter();
        let texts = pairs.map(|(name, text)| format!("{}: {}", self.key(name), self.value(text)));
        texts.collect::<Vec<_>>().join(separator)
    }
}

/// The changes of objects by their nodes.
type ChangesByNode<'n, 'a> = HashMap<*const Node<'a>, &'n ObjectEdits>;

/// Whether the documents of `text` are the original ones with these changes.
pub(crate) fn is_as_intended<'n, 'a: 'n>(
    before: &[Rc<Node<'a>>],
    changes: impl Iterator<Item = (&'n Rc<Node<'a>>, &'n ObjectEdits)>,
    text: &str,
) -> bool {
    let source = SourceFile::new("", text);
    let (after, error) = source.documents();
    let changes: ChangesByNode<'_, '_> = changes
        .map(|(node, edits)| (Rc::as_ptr(node), edits))
        .collect();
    let mut all = before.iter().zip(&after);
    let is_same = all.all(|(before, after)| {
        let (mut intended, mut after) = (intended(before, &changes), after.json());
        without_empty(&mut intended);
        without_empty(&mut after);
        intended == after
    });
    is_same && error.is_none() && after.len() == before.len()
}

/// The JSON of a document with the changes of its object, or of the objects in its list.
fn intended<'a>(document: &Rc<Node<'a>>, changes: &ChangesByNode<'_, 'a>) -> Value {
    if let Some(edits) = changes.get(&Rc::as_ptr(document)) {
        let mut object = document.json();
        change(&mut object, edits);
        return object;
    }
    let items = document.list("items");
    if items.is_empty() {
        return document.json();
    }
    let fields = document.entries().iter().map(|entry| {
        let value = match entry.name() {
            "items" => items.iter().map(|item| intended(item, changes)).collect(),
            _ => entry.value.json(),
        };
        (entry.name().to_owned(), value)
    });
    Value::Object(fields.collect())
}

/// Removes empty maps of annotations and labels, which are equivalent to missing ones.
fn without_empty(document: &mut Value) {
    let metadata = document.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        for name in ["annotations", "labels"] {
            let is_empty =
                |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if metadata.get(name).is_some_and(is_empty) {
                metadata.remove(name);
            }
        }
    }
    if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(without_empty);
    }
}

fn change(object: &mut Value, changes: &ObjectEdits) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let replaced = changes.replaced.iter();
    let removed: Vec<_> = replaced.map(|(name, _)| name).collect();
    let added: Vec<_> = changes.pairs().collect();
    let labels: Vec<_> = changes.labels.iter().collect();
    edit_map(metadata, "annotations", &removed, &added);
    edit_map(metadata, "labels", &[], &labels);
}

fn edit_map(
    metadata: &mut Map<String, Value>,
    name: &str,
    removed: &[&String],
    added: &[&(String, String)],
) {
    if removed.is_empty() && added.is_empty() {
        return;
    }
    let mut map = match metadata.remove(name) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    map.retain(|name, _| !removed.contains(&name));
    let added = added
        .iter()
        .map(|(name, text)| (name.clone(), Value::from(&**text)));
    map.extend(added);
    metadata.insert(name.to_owned(), map.into());
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const BEFORE: &str = "kind: Deployment\nmetadata:\n  name: web\n  annotations: {old: a, kept: b}\n\
                          spec: {replicas: 3}\n";

    /// Whether `after` is a correct result of replacing `old` by `new: c` on the first object.
    fn is_correct(before: &str, after: &str) -> bool {
        let source = SourceFile::new("", before);
        let (nodes, _) = source.documents();
        let mut objects = nodes
            .first()
            .and_then(|list| list.get("items")?.items().first());
        let object = objects.get_or_insert(&nodes[0]);
        let changes = ObjectEdits {
            replaced: vec![("old".into(), vec![("new".into(), "c".into())])],
            ..ObjectEdits::default()
        };
        is_as_intended(&nodes, iter::once((*object, &changes)), after)
    }

    /// Correct and incorrect results, by themselves, as one of two documents and in a list.
    #[test]
    fn rejects_any_other_change() {
        for (from, to, expected) in [
            ("{old: a, kept: b}", "{new: c, kept: b}", true),
            ("{old: a, kept: b}", "{kept: 'b', new: \"c\"}", true),
            ("{old: a, kept: b}", "{old: a, kept: b}", false), // unchanged
            ("{old: a, kept: b}", "{new: c}", false),
            ("{old: a, kept: b}", "{new: c, kept: b, more: d}", false),
            ("{old: a, kept: b}", "{new: other, kept: b}", false),
            (
                "old: a, kept: b}\nspec: {",
                "new: c, kept: b}\nspec: {paused: true, ",
                false,
            ),
            (
                "{old: a, kept: b}\nspec: {replicas: 3}",
                "{new: c, kept: b}",
                false,
            ),
            (
                "web\n  annotations: {old: a",
                "api\n  annotations: {new: c",
                false,
            ),
            (
                "old: a, kept: b}\nspec: {replicas: 3",
                "new: c, kept: b}\nspec: {replicas: 4",
                false,
            ),
            (
                "old: a, kept: b}\nspec: {replicas: 3",
                "new: c, kept: b}\nspec: {replicas: '3'",
                false,
            ),
        ] {
            let after = BEFORE.replacen(from, to, 1);
            assert_eq!(from != to, after != BEFORE, "{from}");
            let list = |text: &str| {
                let indented = text.replace('\n', "\n  ");
                format!("kind: List\nitems:\n- {}\n", indented.trim_end())
            };
            let two = |text: &str| format!("{text}---\n{BEFORE}");
            assert_eq!(is_correct(BEFORE, &after), expected, "{after}");
            assert_eq!(
                is_correct(&list(BEFORE), &list(&after)),
                expected,
                "{}",
                list(&after)
            );
            assert_eq!(
                is_correct(&two(BEFORE), &two(&after)),
                expected,
                "{}",
                two(&after)
            );
            // The number of documents.
            assert!(!is_correct(&two(BEFORE), &after), "{after}");
            assert!(!is_correct(BEFORE, &two(&after)), "{after}");
        }
    }

    #[test]
    fn verifies_the_other_document() {
        let after = BEFORE.replace("old: a", "new: c");
        let two = |first: &str, second: &str| format!("{first}---\n{second}");
        for other in [BEFORE.replace("replicas: 3", "replicas: 4"), after.clone()] {
            assert!(
                !is_correct(&two(BEFORE, BEFORE), &two(&after, &other)),
                "{other}"
            );
        }
    }
}
