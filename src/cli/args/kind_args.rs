//! Which kinds of workload, alike in every subcommand that looks at any.

use std::path::PathBuf;

use dayshift_text::quote;
use dayshift_workload::{
    Kind, NotStopped,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::cli::kind_files::is_refused;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KindArgs {
    /// The kinds of workload, separated by commas. Besides the default there are
    /// horizontalpodautoscalers, scaledobjects, databases and others that `dayshift kinds` lists, and
    /// any resource with spec.replicas, such as rollouts.argoproj.io
    #[arg(
        long,
        help_heading = "Which workloads",
        hide_short_help = true,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "deployments,statefulsets,cronjobs",
        value_parser = kind
    )]
    kinds: Vec<Kind>,

    /// A file of kinds of your own: where their switch or their count is, as
    /// docs/reference/operator-kinds.md describes; repeatable
    #[arg(
        long,
        help_heading = "Which workloads",
        hide_short_help = true,
        value_name = "FILE"
    )]
    kind_file: Vec<PathBuf>,
}

impl Default for KindArgs {
    /// The kinds that are looked at by default.
    fn default() -> Self {
        Self {
            kinds: Kind::DEFAULT.to_vec(),
            kind_file: Vec::new(),
        }
    }
}

impl KindArgs {
    /// The kinds, each once, in the order in which they were given, without those whose rows are
    /// wrong.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for kind in &self.kinds {
            if !kinds.contains(kind) && !is_refused(*kind) {
                kinds.push(*kind);
            }
        }
        kinds
    }
}

pub(super) fn kind(text: &str) -> Result<Kind, String> {
    let text = text.trim();
    let known = Kind::from_argument(text).or_else(|| custom_kind(text));
    let not_stopped = || resource(text).and_then(|it| NotStopped::from_resource(&it.0, &it.1));
    known.ok_or_else(|| match not_stopped() {
        Some(it) => format!("{it}; leave it out, and {}", it.instead),
        None => format!(
            "`{}` is not a kind of workload; write for example deployments, or \
             rollouts.argoproj.io for a kind that has spec.replicas",
            quote(text)
        ),
    })
}

/// The kind of `rollouts.argoproj.io` or `rollouts.v1alpha1.argoproj.io`; which version there is
/// the API server says. None of a kind that no stop would stop.
pub(crate) fn custom_kind(text: &str) -> Option<Kind> {
    let (plural, group) = resource(text)?;
    let is_stopped = NotStopped::from_resource(&plural, &group).is_none();
    is_stopped.then(|| Kind::named(&plural, &group))
}

/// The plural and the group of a custom resource, whose group has a dot in it.
fn resource(text: &str) -> Option<(String, String)> {
    let text = text.to_lowercase();
    let (plural, group) = text.split_once('.')?;
    let group = match group.split_once('.') {
        Some((version, rest)) if is_version(version) => rest,
        _ => group,
    };
    let is_one = is_dns_label(plural) && is_dns_subdomain(group) && group.contains('.');
    is_one.then(|| (plural.to_owned(), group.to_owned()))
}

fn is_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_built_in_or_named_with_its_group() {
        let rollouts = Some(Kind::named("rollouts", "argoproj.io"));
        for (text, expected) in [
            ("deployments", Some(Kind::DEPLOYMENT)),
            (" hpa ", Some(Kind::HORIZONTAL_POD_AUTOSCALER)),
            ("scaledobjects.keda.sh", Some(Kind::SCALED_OBJECT)),
            ("rollouts.argoproj.io", rollouts),
            ("Rollouts.v1alpha1.argoproj.io", rollouts),
            ("widgets", None),
            ("widgets.example", None),
            ("a b.example.com", None),
            ("", None),
        ] {
            let found = kind(text);
            match expected {
                Some(kind) => assert_eq!(found, Ok(kind), "{text}"),
                None => assert!(found.is_err(), "{text}: {found:?}"),
            }
        }
    }
}
