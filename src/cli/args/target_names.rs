//! The words that name workloads, in the form of kubectl.

use std::path::{Path, PathBuf};

use dayshift_text::quote;
use dayshift_workload::{
    Kind,
    names::{is_dns_label, is_dns_subdomain},
};

use super::kind_args::custom_kind;
use crate::cli::{kind_files::is_refused, output::messages::print_warning};

/// Kinds and names, in the order in which they were given.
pub(super) type Names = Vec<(Kind, String)>;

/// Why these arguments name no workloads.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TargetError {
    #[error("`{0}` is not of a kind that dayshift scales; write for example deploy/web or sts/db")]
    OtherKind(String),
    #[error("`{0}` is not the name of a workload; write for example deploy/web, or deploy web api")]
    NoName(String),
    #[error("names need one namespace: use -n NAME instead of -A")]
    NameInAllNamespaces,
    #[error(
        "names need one namespace: give one -n; for several namespaces, use --all or --selector"
    )]
    NameInNamespaces,
    #[error("`{0}` is in another namespace; name the workloads of one namespace at a time")]
    OtherNamespace(String),
    #[error(
        "`{0}` is neither a kind that dayshift scales nor the namespace `{1}`; write for example \
         deploy/web or rollouts.argoproj.io/web"
    )]
    NeitherKindNorNamespace(String, String),
    #[error("`{0}` is a whole namespace; give it alone, without other names, -n, -A or --selector")]
    NamespaceAndOthers(String),
    #[error("give either names or --selector, not both")]
    NameAndSelector,
}

/// Whether a word is a file or a folder: it looks like one, or it is one and no workload can be called
/// so. What else is in the folder in which a command runs does not change what it means.
fn is_path(word: &str) -> bool {
    let is_name = || namespace_of(word).is_some() || names(&[word.to_owned()]).is_ok();
    looks_like_a_path(word) || !is_name() && Path::new(word).exists()
}

/// Which words are files or folders, and which name live objects. A word that could be either is said.
pub(crate) fn files_and_names(words: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let (files, names): (Vec<_>, Vec<_>) = words.iter().cloned().partition(|it| is_path(it));
    for word in names.iter().filter(|it| Path::new(it).exists()) {
        let word = quote(word);
        print_warning(&format!(
            "`{word}` is taken for a live object; for the file or folder of that name write ./{word}"
        ));
    }
    (files.into_iter().map(PathBuf::from).collect(), names)
}

/// Whether somebody means a file or a folder by a word that could name a workload.
fn looks_like_a_path(word: &str) -> bool {
    let ends = [".yaml", ".yml", ".json", "/"];
    let begins = ["./", "../", "/", "~/"];
    word == "-"
        || ends.iter().any(|it| word.ends_with(it))
        || begins.iter().any(|it| word.starts_with(it))
}

/// Whether a word means Namespaces, as in kubectl.
pub(super) fn is_of_namespaces(word: &str) -> bool {
    matches!(&*word.to_lowercase(), "ns" | "namespace" | "namespaces")
}

/// The name in `ns/team`.
pub(super) fn namespace_of(word: &str) -> Option<&str> {
    let (kind, name) = word.split_once('/')?;
    is_of_namespaces(kind).then_some(name)
}

/// `deploy/web`, several of them, `deploy web api`, or names alone, which are Deployments'; a kind
/// alone is all of its kind. `dev/web` and `dev/sts/db`, as `status` names them, name the namespace
/// too.
pub(super) fn names(
    words: &[String],
) -> Result<(Option<Kind>, Names, Option<String>), TargetError> {
    let kind = words.first().and_then(|word| kind_of(word));
    let words = match words {
        [_, rest @ ..] if kind.is_some() => rest,
        // Alone it is a name.
        [kind, _, ..] if is_other_kind(kind) => {
            return Err(TargetError::OtherKind(quote(kind)));
        }
        words => words,
    };
    let mut names = Names::new();
    let mut named_in: Option<String> = None;
    for word in words {
        let (namespace, rest) = match word.split_once('/') {
            Some((first, rest)) if is_namespace(first) => (Some(first), rest),
            _ => (None, &**word),
        };
        let (kind, name) = match rest.split_once('/') {
            None => (kind.unwrap_or(Kind::OF_A_NAME), rest),
            Some((kind, name)) => match kind_of(kind) {
                Some(kind) => (kind, name),
                None => return Err(TargetError::OtherKind(quote(word))),
            },
        };
        if !is_dns_subdomain(name) {
            return Err(TargetError::NoName(quote(word)));
        }
        if let Some(namespace) = namespace {
            if named_in.as_deref().is_some_and(|it| it != namespace) {
                return Err(TargetError::OtherNamespace(quote(word)));
            }
            named_in = Some(namespace.to_owned());
        }
        if !names.iter().any(|known| *known == (kind, name.to_owned())) {
            names.push((kind, name.to_owned()));
        }
    }
    Ok((kind, names, named_in))
}

/// The kind that a word names, as kubectl takes it.
fn kind_of(word: &str) -> Option<Kind> {
    let kind = Kind::from_argument(word).or_else(|| custom_kind(word));
    kind.filter(|it| !is_refused(*it))
}

/// Whether what stands before a slash can only be a namespace.
fn is_namespace(text: &str) -> bool {
    is_dns_label(text) && Kind::from_argument(text).is_none() && !is_other_kind(text)
}

/// Kinds that people might hope for, where a name could stand.
fn is_other_kind(word: &str) -> bool {
    matches!(
        &*word.to_lowercase(),
        "ds" | "daemonset"
            | "daemonsets"
            | "rs"
            | "replicaset"
            | "replicasets"
            | "job"
            | "jobs"
            | "po"
            | "pod"
            | "pods"
            | "ns"
            | "namespace"
            | "namespaces"
            | "rc"
            | "replicationcontroller"
            | "replicationcontrollers"
            | "svc"
            | "service"
            | "services"
            | "pdb"
            | "poddisruptionbudget"
            | "poddisruptionbudgets"
            | "all"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names as `deploy/web`, and the kinds that are meant where there are none.
    fn read(line: &str) -> Result<Vec<String>, TargetError> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (_, names, named_in) = names(&words)?;
        let shown = names
            .iter()
            .map(|(kind, name)| format!("{}/{name}", kind.short_name()));
        Ok(shown.chain(named_in.map(|it| format!("-n {it}"))).collect())
    }

    #[test]
    fn takes_what_kubectl_takes() {
        for (line, expected) in [
            ("", &[][..]),
            ("deploy/web", &["deploy/web"]),
            (
                "deployment/web deployments/api",
                &["deploy/web", "deploy/api"],
            ),
            ("deployment.apps/web", &["deploy/web"]),
            ("deployments.v1.apps/web", &["deploy/web"]),
            ("Deployment/web", &["deploy/web"]),
            ("deploy web api", &["deploy/web", "deploy/api"]),
            ("deploy", &[]),
            ("deploy deploy", &["deploy/deploy"]),
            ("web api.v2 web", &["deploy/web", "deploy/api.v2"]),
            ("sts/db StatefulSet/db deploy/db", &["sts/db", "deploy/db"]),
            ("sts db web", &["sts/db", "sts/web"]),
            ("hpa", &[]),
            ("cj/report hpa/web", &["cj/report", "hpa/web"]),
            ("rollouts.argoproj.io/web", &["rollouts.argoproj.io/web"]),
            ("deploy hpa", &["deploy/hpa"]),
            ("dev/web", &["deploy/web", "-n dev"]),
            ("dev/web dev/sts/db", &["deploy/web", "sts/db", "-n dev"]),
        ] {
            assert_eq!(
                read(line).as_deref(),
                Ok(&*expected.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{line}"
            );
        }
    }

    #[test]
    fn says_that_nothing_else_is_scaled() {
        for line in [
            "ds/web",
            "daemonset web",
            "deploy/web pod/web-0",
            "deployments.extensions/web",
            "dev/ds/web",
            "svc/web",
            "pdb/web",
        ] {
            let error = read(line).unwrap_err();
            assert!(matches!(error, TargetError::OtherKind(_)), "{line}");
            assert!(error.to_string().contains("deploy/web"), "{error}");
        }
        for line in [
            "deploy/",
            "Web",
            "deploy/../pods",
            "a/b/c",
            "dev/web test/web",
            "dev/",
            "web?x=y",
            "-web",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
