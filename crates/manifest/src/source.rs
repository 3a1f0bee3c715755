//! The text of one file, and what is read in it.
//!
//! Why a file cannot be read.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    rc::Rc,
};

use dayshift_workload::Prefix;
use serde_json::Value;

use crate::{
    annotations::{ReadScope, is_filled_in},
    objects::{Contents, FoundObject, objects, workload::ManifestWorkload},
    yaml::{
        ParseError, SyntaxError, documents,
        node::{Location, Node},
    },
};

/// A file's name and text.
///
/// ```
/// use dayshift_manifest::SourceFile;
/// use dayshift_workload::{Key, Prefix};
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
/// let web = &source.workloads(&Prefix::default(), "default").unwrap()[0];
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
}

impl SourceFile {
    /// A text under the name that errors give it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            path: PathBuf::from(&name),
            name,
            text: text.into(),
            is_chart: false,
        }
    }

    /// What the errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it was read: the name may stand for a path that is no text.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same of a chart whose templates were not read.
    pub(crate) fn into_chart(self) -> Self {
        Self {
            is_chart: true,
            ..self
        }
    }

    /// Whether it is the `Chart.yaml` of a Helm chart whose templates were passed over.
    pub fn is_chart(&self) -> bool {
        self.is_chart
    }

    /// The workloads of the documents in it, YAML or JSON (values one after another too), in order:
    /// those that stand alone and those in lists. One that names no namespace is in `namespace`.
    ///
    /// # Errors
    /// Where the text is no YAML, costs too much to read, or a workload in it is none that the
    /// API server could take.
    pub fn workloads(
        &self,
        prefix: &Prefix,
        namespace: &str,
    ) -> Result<Vec<ManifestWorkload>, SyntaxError> {
        let contents = self.contents(prefix, namespace);
        match contents.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(contents.workloads),
        }
    }

    /// Those that can be read, each with the whole object, as kubectl would send it.
    pub fn manifests(&self, prefix: &Prefix, namespace: &str) -> Vec<(ManifestWorkload, Value)> {
        let mut manifests = Vec::new();
        self.objects(prefix, namespace, |found| {
            if let FoundObject::Workload(workload, node) = found {
                let mut manifest = node.json();
                let metadata = &mut manifest["metadata"];
                if metadata["name"].is_null() {
                    metadata["name"] = (*workload.object.name).into();
                }
                manifests.push((*workload, manifest));
            }
        });
        manifests
    }

    /// The Namespaces in it, each as kubectl would send it.
    pub fn namespaces(&self, prefix: &Prefix) -> Vec<Value> {
        let mut namespaces = Vec::new();
        self.objects(prefix, "default", |found| {
            if let FoundObject::Namespace(_, node) = found {
                namespaces.push(node.json());
            }
        });
        namespaces
    }

    /// Everything in it that schedules have to do with, and everything that is wrong with it. A
    /// workload at fault does not keep the others from being read; text that is no YAML ends the
    /// reading.
    pub fn contents(&self, prefix: &Prefix, namespace: &str) -> Contents {
        let mut contents = Contents::default();
        self.objects(prefix, namespace, |found| match found {
            FoundObject::Workload(workload, _) => contents.workloads.push(*workload),
            FoundObject::Namespace(namespace, _) => contents.namespaces.push(*namespace),
            FoundObject::Service(service) => contents.services.push(*service),
            FoundObject::Other(other) => contents.others.push(*other),
            FoundObject::Loose(it) => contents.loose.push(it),
            FoundObject::Unrendered(it) => contents.unrendered.push(it),
            FoundObject::ParseError(fault) => contents.errors.push(self.error(fault)),
        });
        contents
    }

    /// The trees of its documents in order, and why no more of them can be read.
    pub(crate) fn documents(&self) -> (Vec<Rc<Node<'_>>>, Option<SyntaxError>) {
        let mut all = Vec::new();
        let read = documents(&self.text, |document| all.push(Rc::clone(document)));
        (all, read.err().map(|fault| self.error(fault)))
    }

    fn objects(&self, prefix: &Prefix, namespace: &str, mut each: impl FnMut(FoundObject<'_, '_>)) {
        let scope = ReadScope {
            file: &self.name,
            source: &self.text,
            prefix,
            namespace,
        };
        let read = documents(&self.text, |document| {
            objects(document, scope, &mut each);
        });
        if let Err(fault) = read {
            each(FoundObject::ParseError(fault));
        }
    }

    fn error(&self, mut fault: ParseError) -> SyntaxError {
        // Of faults in objects there may be thousands, and finding a line costs the whole file.
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

    /// An error of its own at a place of it.
    pub(crate) fn error_at(&self, place: &Location, message: String) -> SyntaxError {
        self.error(ParseError::at(place, message))
    }

    /// Reads a regular file.
    ///
    /// # Errors
    /// It cannot be read, is not a regular file, is too large, or is not UTF-8 text.
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
        // One byte more tells a file that is too large.
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

/// The largest file that is read, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// Why a file or folder could not be opened. Each names it as it was given.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not there, may not be read, or ended early.
    #[error("cannot read {name}: {error}")]
    Read {
        /// The file or folder.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// It is longer than [`MAX_BYTES`].
    #[error("{name} is too large; at most {} MiB are read, so split it", MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        name: String,
    },
    /// It is not UTF-8, which YAML and JSON are written in.
    #[error("{name}:{line}: this line is not UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The file.
        name: String,
        /// The first line that is not, from 1.
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
    /// It is a folder without a manifest.
    #[error(
        "{name} has no file to read: none ends in .yaml, .yml or .json, or all are excluded or ignored by Git"
    )]
    EmptyFolder {
        /// The folder.
        name: String,
    },
}

impl OpenError {
    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        let name = path.display().to_string();
        Self::Read { name, error }
    }

    /// The file or folder, as it was given.
    pub fn name(&self) -> &str {
        let (Self::Read { name, .. }
        | Self::TooLarge { name }
        | Self::NotText { name, .. }
        | Self::NotRegular { name }
        | Self::OutsideLink { name, .. }
        | Self::EmptyFolder { name }) = self;
        name
    }
}
