//! Parses YAML and JSON into trees with places, within bounds of memory and depth.

pub(crate) mod deviations;
pub(crate) mod node;

use std::{borrow::Cow, collections::HashMap, rc::Rc};

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::yaml::{
    deviations::{Indented, StreamPiece, pieces},
    node::{Location, MapEntry, Node, NodeContent},
};

/// An error at a place.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) place: Location,
    pub(crate) message: String,
    /// Whether the text is valid YAML and an object in it is invalid.
    pub(crate) in_object: bool,
    /// The kind of that object, if it is known.
    pub(crate) kind: Option<Box<str>>,
}

impl ParseError {
    /// An error of an object.
    pub(crate) fn at(place: &Location, message: impl Into<String>) -> Self {
        Self {
            in_object: true,
            ..Self::in_text(place.clone(), message)
        }
    }

    /// The error, of an object of this kind.
    pub(crate) fn with_kind(self, kind: &str) -> Self {
        Self {
            kind: Some(kind.into()),
            ..self
        }
    }

    fn from_scan(error: &ScanError, piece: &StreamPiece<'_>) -> Self {
        let marker = piece.place(*error.marker());
        Self::in_text(Location::new(marker, marker), error.info())
    }

    fn in_text(place: Location, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            in_object: false,
            kind: None,
        }
    }
}

/// Why a file is not a manifest, formatted as `FILE:LINE:COLUMN: …` so that editors recognize the
/// place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}", .place.line, .place.column)]
pub struct SyntaxError {
    /// The file as the user gave it.
    pub file: String,
    /// The place.
    pub place: Location,
    /// The problem.
    pub message: String,
    /// Whether the text is valid YAML and an object in it is invalid.
    pub in_object: bool,
    /// The kind of that object, if it is known.
    pub kind: Option<Box<str>>,
    /// Whether a tool fills in the invalid text before anything is applied.
    pub is_filled_in: bool,
}

/// The maximum number of levels in a document. A Deployment has about a dozen.
const MAX_HEIGHT: usize = 100;

/// The maximum cost of all documents of a file with aliases expanded: twice the largest file.
const MAX_COST: usize = 64 << 20;

/// The cost of a node besides its text.
const NODE: usize = 32;

/// Calls `each` with every document of a stream, in order. JSON is YAML too, and JSON values can
/// follow each other without a separator.
pub(crate) fn documents<'a>(
    text: &'a str,
    mut each: impl FnMut(&Rc<Node<'a>>),
) -> Result<(), ParseError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut builder = Builder::default();
    for piece in pieces(text) {
        let cost = builder.cost;
        let mut emitted = 0;
        for next in Parser::new_from_str_with_options(piece.text, options.clone()) {
            match next {
                Ok((event, span)) => {
                    let span = piece.span(&span);
                    if let Some(document) = builder.take(event, &span, |text| text)? {
                        emitted += 1;
                        each(&document);
                    }
                }
                Err(error) => {
                    let Some(indented) = Indented::repair(piece.text, &options, &error) else {
                        return Err(ParseError::from_scan(&error, &piece));
                    };
                    builder = Builder {
                        cost,
                        ..Builder::default()
                    };
                    builder.take_all(&indented, &options, &piece, |at, document| {
                        if at >= emitted {
                            each(document);
                        }
                    })?;
                    break;
                }
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Builder<'a> {
    /// The open collections, outermost first.
    open: Vec<OpenCollection<'a>>,
    anchors: HashMap<usize, Rc<Node<'a>>>,
    cost: usize,
}

/// A collection that has begun. The children of a map are its keys and values in turn.
struct OpenCollection<'a> {
    begin: Span,
    anchor: usize,
    kind: CollectionKind,
    children: Vec<Rc<Node<'a>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CollectionKind {
    List,
    Map,
}

impl<'a> Builder<'a> {
    /// Reads a whole indented text and calls `each` with each document and its index.
    fn take_all(
        &mut self,
        indented: &Indented,
        options: &Options,
        piece: &StreamPiece<'_>,
        mut each: impl FnMut(usize, &Rc<Node<'a>>),
    ) -> Result<(), ParseError> {
        let mut count = 0;
        for next in Parser::new_from_str_with_options(&indented.text, options.clone()) {
            let (event, span) = next.map_err(|error| {
                let marker = piece.place(indented.place(*error.marker()));
                ParseError::in_text(Location::new(marker, marker), error.info())
            })?;
            let span = piece.span(&indented.span(&span));
            // The nodes outlive the indented text.
            let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
            if let Some(document) = self.take(event, &span, owned)? {
                each(count, &document);
                count += 1;
            }
        }
        Ok(())
    }

    /// Processes an event and returns the document that it completes. `keep` converts a text for
    /// its node.
    fn take<'e>(
        &mut self,
        event: Event<'e>,
        span: &Span,
        keep: impl FnOnce(Cow<'e, str>) -> Cow<'a, str>,
    ) -> Result<Option<Rc<Node<'a>>>, ParseError> {
        let (node, anchor) = match event {
            Event::DocumentEnd => {
                self.anchors.clear();
                return Ok(None);
            }
            Event::SequenceStart(_, anchor, _) => {
                return Ok(self.begin(span, anchor, CollectionKind::List));
            }
            Event::MappingStart(_, anchor, _) => {
                return Ok(self.begin(span, anchor, CollectionKind::Map));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(None);
                };
                let anchor = open.anchor;
                (Rc::new(self.close(open, span)?), anchor)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let bare = is_bare(style, tag.as_deref());
                (Rc::new(self.scalar(keep(text), bare, span)?), anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    let message = "this alias is inside its own anchor";
                    return Err(ParseError::in_text(Location::from_span(span), message));
                };
                self.charge(node.cost, &Location::from_span(span))?;
                (node, 0)
            }
            _ => return Ok(None),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        Ok(match self.open.last_mut() {
            Some(open) => {
                open.children.push(node);
                None
            }
            None => Some(node),
        })
    }

    fn begin(&mut self, span: &Span, anchor: usize, kind: CollectionKind) -> Option<Rc<Node<'a>>> {
        self.open.push(OpenCollection {
            begin: *span,
            anchor,
            kind,
            children: Vec::new(),
        });
        None
    }

    fn scalar(
        &mut self,
        text: Cow<'a, str>,
        bare: bool,
        span: &Span,
    ) -> Result<Node<'a>, ParseError> {
        let place = Location::from_span(span);
        let cost = NODE + text.len();
        self.charge(cost, &place)?;
        // The parser represents an omitted value by `~`.
        let text = if bare && place.span.is_empty() {
            Cow::Borrowed("")
        } else {
            text
        };
        Ok(Node {
            place,
            height: 1,
            cost,
            content: NodeContent::Scalar { text, bare },
        })
    }

    fn close(&mut self, open: OpenCollection<'a>, end: &Span) -> Result<Node<'a>, ParseError> {
        let place = Location::new(open.begin.start, end.end);
        self.charge(NODE, &place)?;
        let height = 1 + open
            .children
            .iter()
            .map(|child| child.height)
            .max()
            .unwrap_or_default();
        if height > MAX_HEIGHT {
            let message = format!("nested deeper than {MAX_HEIGHT} levels");
            return Err(ParseError::in_text(place, message));
        }
        let mut cost = NODE + open.children.iter().map(|child| child.cost).sum::<usize>();
        let content = match open.kind {
            CollectionKind::Map => {
                let (entries, more) = self.entries(open.children)?;
                cost += more;
                NodeContent::Map(entries)
            }
            CollectionKind::List => NodeContent::List(open.children),
        };
        Ok(Node {
            place,
            height,
            cost,
            content,
        })
    }

    /// The entries of a map, and the cost of those that `<<` merges. Merged entries come first, so
    /// that the map's own entries win.
    fn entries(
        &mut self,
        children: Vec<Rc<Node<'a>>>,
    ) -> Result<(Vec<MapEntry<'a>>, usize), ParseError> {
        let mut own = Vec::with_capacity(children.len() / 2);
        let mut merged = Vec::new();
        let mut merged_cost = 0;
        let mut children = children.into_iter();
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            match &key.content {
                NodeContent::Scalar { text, bare: true } if text == "<<" => {
                    // If several maps are merged, the first wins.
                    let maps = value.items().iter().rev().chain([&value]);
                    for entry in maps.flat_map(|map| map.entries()) {
                        let cost = entry.key.cost + entry.value.cost;
                        self.charge(cost, &key.place)?;
                        merged_cost += cost;
                        merged.push(MapEntry {
                            merged: true,
                            ..entry.clone()
                        });
                    }
                }
                NodeContent::Scalar { .. } => own.push(MapEntry {
                    key,
                    value,
                    merged: false,
                }),
                NodeContent::List(_) | NodeContent::Map(_) => {
                    let message = format!("a key must be text, but this is {}", key.type_name());
                    return Err(ParseError::in_text(key.place.clone(), message));
                }
            }
        }
        merged.append(&mut own);
        Ok((merged, merged_cost))
    }

    fn charge(&mut self, cost: usize, place: &Location) -> Result<(), ParseError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > MAX_COST {
            let message = "the file is too large once its aliases are expanded; split it";
            return Err(ParseError::in_text(place.clone(), message));
        }
        Ok(())
    }
}

/// Whether a scalar can be something other than text: it has no quotes, and no tag makes it text.
fn is_bare(style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        Some(tag) => matches!(tag.core_suffix(), Some("int" | "float" | "bool" | "null")),
        None => style == ScalarStyle::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser rejects them at its `block_nesting_limit` and `flow_nesting_limit`. Without these, a file
    /// of 32 MB opens 16 million collections before their height is known.
    #[test]
    fn deep_nesting_is_rejected_before_millions_of_collections_are_open() {
        for piece in ["- ", "? ", "[", "{? "] {
            let error = documents(&piece.repeat(1_000_000), |_| {}).unwrap_err();
            let column = error.place.column;
            assert!(column < 1_000, "{piece}: rejected at column {column}");
        }
    }
}
