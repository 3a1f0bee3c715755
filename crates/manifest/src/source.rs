//! A file of manifests: its name and text, the objects in it, and the errors of files that cannot
//! be opened.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

use dayshift_text::quote;
use dayshift_workload::{KindTable, Prefix};
use serde_json::Value;

use crate::{
    annotations::{ReadScope, is_filled_in},
    objects::{
        Contents, FoundObject, defaults::DefaultsOwner, objects, workload::ManifestWorkload,
    },
    yaml::{
        ParseError, SyntaxError, documents,
        node::{Location, Node, NodeContent, Scalar},
    },
};

/// The name and the text of a file.
///
/// ```
/// use dayshift_manifest::SourceFile;
/// use dayshift_workload::{Key, KindTable, Prefix};
///
/// let text = r#"
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: web
///   annotations:
///     dayshift/stop: "19:00"
/// "#;
/// let source = SourceFile::new("web.yaml", text);
/// let kinds = KindTable::default();
/// let web = &source.workloads(&Prefix::default(), "default", &kinds).unwrap()[0];
/// assert_eq!(web.object.to_string(), "default/web");
/// assert_eq!(web.inputs.text(Key::Stop), Some("19:00"));
/// assert_eq!((web.annotations[0].value.line, web.annotations[0].value.column), (7, 20));
/// ```
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    path: PathBuf,
    text: String,
    is_chart: bool,
    /// Whether a search of a directory found the file. Such a file can contain anything.
    is_found: bool,
}

/// Objects of a file, each as kubectl would send it.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// The workloads.
    pub workloads: Vec<(ManifestWorkload, Value)>,
    /// The Namespaces.
    pub namespaces: Vec<Value>,
    /// The ConfigMaps with the defaults of teams.
    pub team_defaults: Vec<Value>,
}

impl SourceFile {
    /// A text with the name that errors give it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            path: PathBuf::from(&name),
            name,
            text: text.into(),
            is_chart: false,
            is_found: false,
        }
    }

    /// The name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path from which the file was read. It need not be UTF-8, unlike the name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same file, as the `Chart.yaml` of a chart whose templates are skipped.
    pub(crate) fn into_chart(self) -> Self {
        Self {
            is_chart: true,
            ..self
        }
    }

    /// The same file, found by a search of a directory rather than named by the user.
    pub(crate) fn into_found(self) -> Self {
        Self {
            is_found: true,
            ..self
        }
    }

    /// Why a document is not an object; `None` if it might be one, or if the file was found by a
    /// search.
    pub(crate) fn not_an_object(&self, document: &Node<'_>) -> Option<String> {
        if self.is_found || document.scalar() == Some(Scalar::Null) {
            return None;
        }
        let is_map = |node: &Node<'_>| matches!(node.content, NodeContent::Map(_));
        let text = document
            .written()
            .map(|text| format!(" (`{}`)", quote(text)));
        match document.items().iter().find(|item| !is_map(item)) {
            Some(item) => Some(format!(
                "an item of this list is {}, not an object",
                item.type_name()
            )),
            None if document.items().is_empty()
                && !is_map(document)
                && document.written().is_some() =>
            {
                Some(format!(
                    "this is {}{}, not an object",
                    document.type_name(),
                    text.unwrap_or_default()
                ))
            }
            None => None,
        }
    }

    /// Whether the file is the `Chart.yaml` of a Helm chart whose templates were skipped.
    pub fn is_chart(&self) -> bool {
        self.is_chart
    }

    /// The workloads of all documents in order, in lists or by themselves. A document is YAML or
    /// JSON, and JSON values can follow each other without a separator. Workloads without a
    /// namespace are in `namespace`.
    ///
    /// # Errors
    /// If the text is not YAML, takes too much memory, or contains a workload that the API server
    /// would reject.
    pub fn workloads(
        &self,
        prefix: &Prefix,
        namespace: &str,
        kinds: &KindTable,
    ) -> Result<Vec<ManifestWorkload>, SyntaxError> {
        let contents = self.contents(prefix, namespace, kinds);
        match contents.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(contents.workloads),
        }
    }

    /// The readable objects that a cluster needs to run the schedules.
    pub fn manifests(&self, prefix: &Prefix, namespace: &str, kinds: &KindTable) -> Manifests {
        let mut manifests = Manifests::default();
        self.objects(prefix, namespace, kinds, |found| match found {
            FoundObject::Workload(workload, node) => {
                let mut manifest = node.json();
                let metadata = &mut manifest["metadata"];
                if metadata["name"].is_null() {
                    metadata["name"] = (*workload.object.name).into();
                }
                manifests.workloads.push((*workload, manifest));
            }
            FoundObject::Defaults(defaults, Some(node)) => match defaults.owner {
                DefaultsOwner::Team(namespace) => {
                    let mut manifest = node.json();
                    manifest["metadata"]["namespace"] = (*namespace).into();
                    manifests.team_defaults.push(manifest);
                }
                _ => manifests.namespaces.push(node.json()),
            },
            _ => {}
        });
        manifests
    }

    /// All objects that affect schedules, and all errors. If a workload is invalid, the others are
    /// still read. A syntax error ends the file.
    pub fn contents(&self, prefix: &Prefix, namespace: &str, kinds: &KindTable) -> Contents {
        let mut contents = Contents::default();
        self.objects(prefix, namespace, kinds, |found| match found {
            FoundObject::Workload(workload, _) => contents.workloads.push(*workload),
            FoundObject::Defaults(defaults, _) => contents.defaults.push(*defaults),
            FoundObject::Service(service) => contents.services.push(*service),
            FoundObject::Other(other) => contents.others.push(*other),
            FoundObject::Unrendered(it) => contents.unrendered.push(it),
            FoundObject::ParseError(fault) => contents.errors.push(self.error(fault)),
        });
        contents
    }

    /// The trees of the documents in order, and the error that ended the file.
    pub(crate) fn documents(&self) -> (Vec<Rc<Node<'_>>>, Option<SyntaxError>) {
        let mut all = Vec::new();
        let read = documents(&self.text, |document| all.push(Rc::clone(document)));
        (all, read.err().map(|fault| self.error(fault)))
    }

    fn objects(
        &self,
        prefix: &Prefix,
        namespace: &str,
        kinds: &KindTable,
        mut each: impl FnMut(FoundObject<'_, '_>),
    ) {
        let scope = ReadScope {
            file: &self.name,
            source: &self.text,
            prefix,
            kinds,
            namespace,
        };
        let read = documents(&self.text, |document| {
            if let Some(message) = self.not_an_object(document) {
                each(FoundObject::ParseError(ParseError::at(
                    &document.place,
                    message,
                )));
            }
            objects(document, scope, &mut each);
        });
        if let Err(fault) = read {
            each(FoundObject::ParseError(fault));
        }
    }

    fn error(&self, mut fault: ParseError) -> SyntaxError {
        // A file can have thousands of invalid objects, and finding a line takes time in proportion
        // to the file.
        let line = || self.text.lines().nth(fault.place.line.saturating_sub(1));
        if !fault.in_object && line().is_some_and(|line| line.contains("{{")) {
            fault.message += "; render a chart first: `helm template CHART | dayshift lint -`";
        }
        let at_fault = self.text.get(fault.place.span.clone()).unwrap_or_default();
        SyntaxError {
            file: self.name.clone(),
            place: fault.place,
            message: fault.message,
            is_filled_in: fault.in_object && !at_fault.contains('\n') && is_filled_in(at_fault),
            in_object: fault.in_object,
            kind: fault.kind,
        }
    }

    /// An error of an object at a place of the file.
    pub(crate) fn error_at(&self, place: &Location, message: String) -> SyntaxError {
        self.error(ParseError::at(place, message))
    }

    /// Reads a regular file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, is too large, or is not UTF-8.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |error| OpenError::read(path, error);
        // Before it is opened: opening a FIFO without a writer blocks.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            let name = path.display().to_string();
            return Err(OpenError::NotRegular { name });
        }
        let file = fs::File::open(path).map_err(failed)?;
        let source = Self::read(path.display().to_string(), file)?;
        Ok(Self {
            path: path.to_owned(),
            ..source
        })
    }

    pub(crate) fn read(name: String, reader: impl Read) -> Result<Self, OpenError> {
        let mut bytes = Vec::new();
        // One more byte shows that a file is too large.
        let limit = MAX_BYTES as u64 + 1;
        if let Err(error) = reader.take(limit).read_to_end(&mut bytes) {
            return Err(OpenError::Read { name, error });
        }
        if bytes.len() > MAX_BYTES {
            return Err(OpenError::TooLarge { name });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(name, text)),
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
                Err(OpenError::NotText { name, line })
            }
        }
    }
}

/// The maximum size of a file in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// Why a file or directory cannot be opened. Each error has the path as the user gave it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It does not exist, is not readable, or ended early.
    #[error("cannot read {name}: {error}")]
    Read {
        /// The file or directory.
        name: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// It is larger than [`MAX_BYTES`].
    #[error("{name} is too large; at most {} MiB are read, so split it", MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        name: String,
    },
    /// The files before it in a searched directory have so many bytes that they fill the memory.
    #[error(
        "{name} is not read, nor the files after it: the files before it have more than 256 MiB; skip some with \
         --exclude, or name the directories below one by one"
    )]
    TooMuch {
        /// The first file that is not read.
        name: String,
    },
    /// It is not UTF-8, the encoding of YAML and JSON.
    #[error("{name}:{line}: this line is not UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The file.
        name: String,
        /// The first line that is not UTF-8, from 1.
        line: usize,
    },
    /// It is neither a regular file nor a directory: reading it could block, or never end.
    #[error(
        "{name} is not a regular file; write it to a file, or pipe it: `dayshift lint - < {name}`"
    )]
    NotRegular {
        /// The file.
        name: String,
    },
    /// It is a symbolic link in a searched directory to a file outside of that directory.
    #[error(
        "{name} is a symbolic link to {target}, outside of the directory, and is not followed; name that file itself"
    )]
    OutsideLink {
        /// The link.
        name: String,
        /// The file to which it leads.
        target: String,
    },
    /// It is a directory without a manifest.
    #[error(
        "{name} has no file to read: none ends in .yaml, .yml or .json, or all are excluded or ignored by Git"
    )]
    EmptyDirectory {
        /// The directory.
        name: String,
    },
}

impl OpenError {
    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        let name = path.display().to_string();
        Self::Read { name, error }
    }

    /// The file or directory as the user gave it.
    pub fn name(&self) -> &str {
        let (Self::Read { name, .. }
        | Self::TooLarge { name }
        | Self::TooMuch { name }
        | Self::NotText { name, .. }
        | Self::NotRegular { name }
        | Self::OutsideLink { name, .. }
        | Self::EmptyDirectory { name }) = self;
        name
    }
}
