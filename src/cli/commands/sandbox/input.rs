//! What is simulated: the workloads and Namespaces of files, or of the examples.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use dayshift_manifest::{ManifestWorkload, SourceFile, last_of_each, lint::Linter};
use dayshift_text::printable;
use dayshift_workload::Prefix;
use serde_json::Value;

use crate::{
    cli::{
        args::files::FileArgs,
        kind_files::is_refused,
        output::{
            findings::text::{has_errors, print_findings},
            messages::{note_given_again, print_error},
        },
    },
    examples::EXAMPLES,
    sandbox::{Simulation, is_fragment, lacks},
};

/// What the files hold. What could not be read of them is reported.
pub(super) struct Input {
    pub(super) workloads: Vec<Loaded>,
    namespaces: Vec<Value>,
    /// Whether a file could not be read.
    pub(super) is_incomplete: bool,
    /// Whether anything is wrong in one.
    pub(super) has_errors: bool,
}

/// A workload of a file.
pub(super) struct Loaded {
    pub(super) workload: ManifestWorkload,
    file: String,
    /// The whole object.
    manifest: Value,
}

impl Input {
    /// Reads the files, or the examples where there are none.
    pub(super) fn read(files: &[PathBuf], given: &FileArgs, linter: &Linter) -> Self {
        let prefix = &linter.prefix;
        let opened = given.open(files);
        opened.errors.iter().for_each(print_error);
        let mut input = Self {
            workloads: Vec::new(),
            namespaces: Vec::new(),
            is_incomplete: !opened.errors.is_empty(),
            has_errors: false,
        };
        let mut sources = opened.sources;
        if files.is_empty() {
            sources.extend(examples(prefix));
        }
        let findings = linter.obstacles(&sources, &linter.read(&sources));
        print_findings(&findings, &sources);
        input.has_errors = has_errors(&findings);
        let mut workloads = Vec::new();
        for source in &sources {
            input.namespaces.extend(source.namespaces(prefix));
            let loaded = source.manifests(prefix, &linter.namespace);
            workloads.extend(loaded.into_iter().map(|(workload, manifest)| Loaded {
                workload,
                file: source.name().to_owned(),
                manifest,
            }));
        }
        workloads.retain(|it| !it.workload.is_filled_in() && !is_refused(it.workload.object.kind));
        let (last, before) = last_of_each(workloads, |it| &it.workload.object);
        for Loaded { workload, file, .. } in &before {
            note_given_again(file, workload);
        }
        input.workloads = last;
        input
    }

    /// Puts all of it into the cluster. Returns the workloads that its API server has taken; what is
    /// refused is reported.
    pub(super) fn load_into(&self, simulation: &mut Simulation) -> Vec<ManifestWorkload> {
        for namespace in &self.namespaces {
            if let Err(status) = simulation.load_namespace(namespace) {
                print_error(&status.message);
            }
        }
        let mut taken = Vec::new();
        for loaded in &self.workloads {
            match simulation.load(&loaded.manifest) {
                Ok(()) => {
                    if is_fragment(&loaded.manifest) {
                        report_completion(&loaded.workload);
                    }
                    taken.push(loaded.workload.clone());
                }
                // What is wrong with annotations has been said.
                Err(_) if !loaded.workload.problems.is_empty() => {}
                Err(status) => loaded.report_refusal(&status.message),
            }
        }
        taken
    }
}

/// The examples, with annotations of this prefix.
fn examples(prefix: &Prefix) -> impl Iterator<Item = SourceFile> {
    let (ours, theirs) = (Prefix::default().full(""), prefix.full(""));
    let examples = EXAMPLES.into_iter();
    examples.map(move |(name, text)| SourceFile::new(name, text.replace(&ours, &theirs)))
}

/// Says that a manifest is good enough here, and what a cluster requires besides.
fn report_completion(workload: &ManifestWorkload) {
    let object = printable(&workload.object.full_name());
    let lacks = lacks(workload.object.kind.name());
    // Where nobody reads, nobody misses it.
    let _ = writeln!(
        io::stderr(),
        "note: {object} has {lacks}, which a cluster requires; the sandbox adds it"
    );
}

impl Loaded {
    /// Says where in its file the workload is that the API server does not take, and what that says.
    fn report_refusal(&self, why: &str) {
        let (file, workload) = (&self.file, &self.workload);
        let ManifestWorkload { object, place, .. } = workload;
        let (line, column) = (place.line, place.column);
        print_error(&format!("{file}:{line}:{column}: {object}: {why}"));
    }
}
