//! What was not looked at, since only another tool makes objects of it.

use std::path::Path;

use dayshift_text::shell_word;

use super::{finding::Finding, rule::LintRule};
use crate::manifest::{Contents, Location, STANDARD_INPUT, Source};

/// What to do about a text that a tool fills in.
pub(super) const HELP: &str = "check what it renders: helm template . | dayshift lint -";

/// A finding for a chart whose templates were passed over, and for each kustomization that changes
/// the objects of its files, with the pipe that checks what comes of it.
pub(super) fn not_rendered(at: usize, source: &Source, contents: &Contents) -> Vec<Finding> {
    let folder = Path::new(source.name()).parent();
    let folder = folder.filter(|it| !it.as_os_str().is_empty() && source.name() != STANDARD_INPUT);
    let folder = folder.map_or(".".to_owned(), |it| it.display().to_string());
    let folder = shell_word(&folder);
    let finding = |place, message, command: &str| {
        let help = format!("check what it renders: {command} {folder} | dayshift lint -");
        Finding::new(LintRule::NotRendered, Some((at, place)), message, help)
    };
    let chart = source.is_chart().then(|| {
        let first = source.text().lines().next().unwrap_or_default();
        let place = Location {
            line: 1,
            column: 1,
            span: 0..first.len(),
        };
        let message = "the templates of this Helm chart were not checked".to_owned();
        finding(place, message, "helm template")
    });
    let kustomizations = contents.unrendered.iter().map(|it| {
        let message = format!(
            "`{}` of this kustomization changes objects, and was not checked",
            it.field
        );
        finding(it.place.clone(), message, "kubectl kustomize")
    });
    chart.into_iter().chain(kustomizations).collect()
}
