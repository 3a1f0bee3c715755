//! Files, folders and standard input.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    contents::Contents,
    error::{MAX_BYTES, OpenError, SyntaxError},
    objects::{Found, objects},
    parse::{ParseError, documents},
    scope::Scope,
    workload::Workload,
};
use crate::workload::Prefix;

/// A file's name and text.
///
/// ```
/// use dayshift::{manifest::Source, workload::{Key, Prefix}};
///
/// let text = r#"
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: web
///   annotations:
///     dayshift/stop: "19:00"
/// "#;
/// let source = Source::new("web.yaml", text);
/// let web = &source.workloads(&Prefix::default(), "default").unwrap()[0];
/// assert_eq!(web.object.to_string(), "default/web");
/// assert_eq!(web.inputs.text(Key::Stop), Some("19:00"));
/// assert_eq!((web.annotations[0].value.line, web.annotations[0].value.column), (7, 20));
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// A text under the name that errors give it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Reads a file; the files of a folder and of the folders in it that end in `.yaml`, `.yml` or
    /// `.json`, in order of their paths; or, for `-`, standard input. Folders in it are passed over
    /// where their name begins with a dot, where they are symbolic links, which may lead round in
    /// a circle, and where they are the templates of a Helm chart, which are no YAML yet.
    ///
    /// # Errors
    /// Where one of them cannot be read, is too large or no text.
    pub fn open(path: &Path) -> Result<Vec<Self>, OpenError> {
        let name = path.display().to_string();
        if name == "-" {
            return Ok(vec![Self::read(
                "standard input".to_owned(),
                io::stdin().lock(),
            )?]);
        }
        if path.is_dir() {
            let files = manifests_in(path).map_err(|error| OpenError::Read {
                name: name.clone(),
                error,
            })?;
            if files.is_empty() {
                return Err(OpenError::EmptyFolder { name });
            }
            return files.iter().map(|file| Self::open_file(file)).collect();
        }
        Ok(vec![Self::open_file(path)?])
    }

    /// What the errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The Deployments of the documents in it, YAML or JSON (values one after another too), in order:
    /// those that stand alone and those in lists. One that names no namespace is in `namespace`.
    ///
    /// # Errors
    /// Where the text is no YAML, costs too much to read, or a Deployment in it is none that the
    /// API server could take.
    pub fn workloads(
        &self,
        prefix: &Prefix,
        namespace: &str,
    ) -> Result<Vec<Workload>, SyntaxError> {
        let contents = self.contents(prefix, namespace);
        match contents.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(contents.workloads),
        }
    }

    /// The same with each whole object, as kubectl would send it.
    ///
    /// # Errors
    /// As [`Self::workloads`].
    pub fn manifests(
        &self,
        prefix: &Prefix,
        namespace: &str,
    ) -> Result<Vec<(Workload, Value)>, SyntaxError> {
        let mut manifests = Vec::new();
        let mut faults = Vec::new();
        self.objects(prefix, namespace, |found| match found {
            Found::Workload(workload, node) => manifests.push((*workload, node.json())),
            Found::Other(_) => {}
            Found::ParseError(fault) => faults.push(fault),
        });
        match faults.into_iter().next() {
            Some(fault) => Err(self.error(fault)),
            None => Ok(manifests),
        }
    }

    /// Everything in it that schedules have to do with, and everything that is wrong with it. A
    /// Deployment at fault does not keep the others from being read; text that is no YAML ends
    /// the reading.
    pub fn contents(&self, prefix: &Prefix, namespace: &str) -> Contents {
        let mut contents = Contents::default();
        self.objects(prefix, namespace, |found| match found {
            Found::Workload(workload, _) => contents.workloads.push(*workload),
            Found::Other(other) => contents.others.push(other),
            Found::ParseError(fault) => contents.errors.push(self.error(fault)),
        });
        contents
    }

    fn objects(&self, prefix: &Prefix, namespace: &str, mut each: impl FnMut(Found<'_, '_>)) {
        let scope = Scope {
            source: &self.text,
            prefix,
            namespace,
        };
        let read = documents(&self.text, |document| {
            objects(document, scope, &mut each);
        });
        if let Err(fault) = read {
            each(Found::ParseError(fault));
        }
    }

    fn error(&self, mut fault: ParseError) -> SyntaxError {
        // Of faults in objects there may be thousands, and finding a line costs the whole file.
        let line = || self.text.lines().nth(fault.place.line.saturating_sub(1));
        if !fault.in_object && line().is_some_and(|line| line.contains("{{")) {
            fault.message += "; render a template first, for example with `helm template`";
        }
        SyntaxError {
            file: self.name.clone(),
            place: fault.place,
            message: fault.message,
            in_object: fault.in_object,
        }
    }

    fn open_file(path: &Path) -> Result<Self, OpenError> {
        let name = path.display().to_string();
        match fs::File::open(path) {
            Ok(file) => Self::read(name, file),
            Err(error) => Err(OpenError::Read { name, error }),
        }
    }

    fn read(name: String, reader: impl Read) -> Result<Self, OpenError> {
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
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
                Err(OpenError::NotText { name, line })
            }
        }
    }
}

/// The manifests in a folder and in those below it, in order of their paths.
fn manifests_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let is_chart = folder.join("Chart.yaml").is_file();
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let ending = path
                .extension()
                .and_then(|it| it.to_str())
                .unwrap_or_default();
            if entry.file_type()?.is_dir() {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                let is_template = is_chart && name == "templates";
                if !is_hidden && !is_template {
                    folders.push(path);
                }
            } else if matches!(ending, "yaml" | "yml" | "json") && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
