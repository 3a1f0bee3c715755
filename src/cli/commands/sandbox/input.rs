//! What is simulated: the workloads and Namespaces of files, or of the examples.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use serde_json::Value;

use super::error::SandboxError;
use crate::{
    cli::{args::exclude::ExcludeArgs, output::messages::print_error},
    manifest::{EXAMPLES, Source, Workload},
    sandbox::{Simulation, is_fragment, lacks},
    text::printable,
    workload::Prefix,
};

/// What the files hold. What could not be read of them is reported.
pub(super) struct Input {
    pub(super) workloads: Vec<Loaded>,
    namespaces: Vec<Value>,
    /// Whether something could not be read.
    pub(super) is_incomplete: bool,
}

/// A workload of a file.
pub(super) struct Loaded {
    pub(super) workload: Workload,
    file: String,
    /// The whole object.
    manifest: Value,
}

impl Input {
    /// Reads the files, or the examples where there are none.
    ///
    /// # Errors
    /// No workload is in them.
    pub(super) fn read(
        files: &[PathBuf],
        exclude: &ExcludeArgs,
        prefix: &Prefix,
    ) -> Result<Self, SandboxError> {
        let opened = exclude.open(files);
        opened.errors.iter().for_each(print_error);
        let mut input = Self {
            workloads: Vec::new(),
            namespaces: Vec::new(),
            is_incomplete: !opened.errors.is_empty(),
        };
        let mut sources = opened.sources;
        if files.is_empty() {
            sources.extend(examples(prefix));
        }
        for source in &sources {
            input.namespaces.extend(source.namespaces(prefix));
            let (manifests, errors) = source.manifests(prefix, "default");
            input.is_incomplete |= !errors.is_empty();
            errors.iter().for_each(print_error);
            let loaded = manifests.into_iter().map(|(workload, manifest)| Loaded {
                workload,
                file: source.name().to_owned(),
                manifest,
            });
            input.workloads.extend(loaded);
        }
        match (input.workloads.is_empty(), input.is_incomplete) {
            (false, _) => Ok(input),
            (true, true) => Err(SandboxError::NothingRead),
            (true, false) => {
                let names: Vec<_> = sources.iter().map(Source::name).collect();
                Err(SandboxError::Empty(names.join(", ")))
            }
        }
    }

    /// Puts all of it into the cluster. Returns the workloads that its API server has taken; what is
    /// refused is reported.
    pub(super) fn load_into(&self, simulation: &mut Simulation) -> Vec<Workload> {
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
                Err(status) => loaded.report_refusal(&status.message),
            }
        }
        taken
    }
}

/// The examples, with annotations of this prefix.
fn examples(prefix: &Prefix) -> impl Iterator<Item = Source> {
    let (ours, theirs) = (Prefix::default().full(""), prefix.full(""));
    let examples = EXAMPLES.into_iter();
    examples.map(move |(name, text)| Source::new(name, text.replace(&ours, &theirs)))
}

/// Says that a manifest is good enough here, and what a cluster wants besides.
fn report_completion(workload: &Workload) {
    let object = printable(&workload.object.full_name());
    let lacks = lacks(workload.object.kind.name());
    // Where nobody reads, nobody misses it.
    let _ = writeln!(
        io::stderr(),
        "note: {object} has {lacks}, which a cluster wants; the sandbox makes it up"
    );
}

impl Loaded {
    /// Says where in its file the workload is not what the API server takes, or what that says.
    fn report_refusal(&self, why: &str) {
        let (file, workload) = (&self.file, &self.workload);
        let Workload { object, place, .. } = workload;
        if workload.problems.is_empty() {
            let (line, column) = (place.line, place.column);
            print_error(&format!("{file}:{line}:{column}: {object}: {why}"));
        }
        for problem in &workload.problems {
            let annotation = workload
                .annotations
                .iter()
                .find(|annotation| annotation.name == problem.annotation);
            let place = annotation.map_or(place, |annotation| &annotation.value);
            let (line, column, name) = (place.line, place.column, &problem.annotation);
            print_error(&format!(
                "{file}:{line}:{column}: {object}: {name}: {}",
                problem.diagnostic
            ));
        }
    }
}
