//! Which workloads `wake`, `restore` and the like change.

use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::targets::{TargetArgs, Targets};

/// Which workloads are changed. None is selected by default.
#[derive(Debug, clap::Args)]
pub(crate) struct ChosenArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All workloads of the namespace that have a schedule
    #[arg(
        long,
        value_parser = BoolishValueParser::new(),
        help_heading = "Which workloads"
    )]
    all: bool,
}

impl ChosenArgs {
    /// What is meant.
    ///
    /// # Errors
    /// Where nothing is said, or names beside `--all`.
    pub(crate) fn targets(&self) -> Result<Targets, clap::Error> {
        let targets = self.targets.targets()?;
        let everything = self.all || self.targets.scope.all_namespaces;
        let message = match (targets.are_chosen(), everything) {
            (false, false) => "name the workloads: deploy/web, --selector, --all or -A",
            (true, true) if self.all => "give either names or a selector, or --all",
            _ => return Ok(targets),
        };
        Err(clap::Error::raw(
            ErrorKind::MissingRequiredArgument,
            format!("{message}\n"),
        ))
    }
}
