//! Which live Deployments, in the form of kubectl.

use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::{selector::selector, value_parsers::one_namespace};
use crate::{cluster::Query, names::is_dns_subdomain, text::quote};

/// The arguments that name live Deployments, alike in every subcommand that takes any.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which Deployments")]
pub(crate) struct TargetArgs {
    /// The Deployments, such as deploy/web, or deploy web api
    #[arg(value_name = "DEPLOYMENT")]
    pub(crate) deployments: Vec<String>,

    /// The namespace [default: the namespace of the context]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_parser = one_namespace,
        env = "DAYSHIFT_NAMESPACE"
    )]
    pub(crate) namespace: Option<String>,

    /// All namespaces
    #[arg(
        short = 'A',
        long,
        value_parser = BoolishValueParser::new(),
        env = "DAYSHIFT_ALL_NAMESPACES"
    )]
    pub(crate) all_namespaces: bool,

    /// A label selector, such as `team=web,tier!=db`
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        value_parser = selector,
        env = "DAYSHIFT_SELECTOR"
    )]
    pub(crate) selector: Option<String>,
}

/// Which Deployments are meant, once the namespace of the context is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    names: Vec<String>,
    namespace: Option<String>,
    all_namespaces: bool,
    selector: Option<String>,
}

/// Why these arguments name no Deployments.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum TargetError {
    #[error(
        "`{0}` is not a Deployment, and dayshift scales only Deployments; write for example deploy/web"
    )]
    OtherKind(String),
    #[error(
        "`{0}` is not the name of a Deployment; write for example deploy/web, or deploy web api"
    )]
    NoName(String),
    #[error("names need one namespace: use -n NAME instead of -A")]
    NameInAllNamespaces,
    #[error("give either names or --selector, not both")]
    NameAndSelector,
}

impl TargetArgs {
    /// What is meant by these arguments.
    ///
    /// # Errors
    /// Where a name is not valid or of another kind, or two ways to select are combined.
    pub(crate) fn targets(&self) -> Result<Targets, clap::Error> {
        self.checked()
            .map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))
    }

    fn checked(&self) -> Result<Targets, TargetError> {
        let names = names(&self.deployments)?;
        let selector = self.selector.clone().filter(|text| !text.is_empty());
        if !names.is_empty() && selector.is_some() {
            return Err(TargetError::NameAndSelector);
        }
        if !names.is_empty() && self.all_namespaces {
            return Err(TargetError::NameInAllNamespaces);
        }
        Ok(Targets {
            names,
            namespace: self.namespace.clone(),
            all_namespaces: self.all_namespaces,
            selector,
        })
    }
}

impl Targets {
    /// Where to look; `context` is the namespace of the context, which a client knows
    /// (`kube::Client::default_namespace`).
    pub(crate) fn query(&self, context: &str) -> Query {
        let namespace = self.namespace.as_deref().unwrap_or(context).to_owned();
        if self.names.is_empty() {
            Query::All {
                namespace: (!self.all_namespaces).then_some(namespace),
                selector: self.selector.clone(),
            }
        } else {
            Query::Named {
                namespace,
                names: self.names.clone(),
            }
        }
    }

    /// Whether Deployments are named, or chosen by label.
    pub(crate) fn are_chosen(&self) -> bool {
        !self.names.is_empty() || self.selector.is_some()
    }
}

/// `deploy/web`, several of them, `deploy web api`, or names alone.
fn names(words: &[String]) -> Result<Vec<String>, TargetError> {
    let words = match words {
        [kind, rest @ ..] if is_deployment(kind) => rest,
        [kind, ..] if is_other_kind(kind) => {
            return Err(TargetError::OtherKind(quote(kind)));
        }
        words => words,
    };
    let mut names: Vec<String> = Vec::new();
    for word in words {
        let name = match word.split_once('/') {
            None => word,
            Some((kind, name)) if is_deployment(kind) => name,
            Some(_) => return Err(TargetError::OtherKind(quote(word))),
        };
        if !is_dns_subdomain(name) {
            return Err(TargetError::NoName(quote(word)));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// What kubectl takes for the kind: its name, plural or short name, with or without the group
/// and version, in any case.
fn is_deployment(kind: &str) -> bool {
    let kind = kind.to_lowercase();
    let (resource, group) = kind.split_once('.').unwrap_or((&kind, "apps"));
    matches!(resource, "deploy" | "deployment" | "deployments")
        && matches!(group, "apps" | "v1.apps")
}

/// Kinds that people might hope for, where a name could stand.
fn is_other_kind(word: &str) -> bool {
    matches!(
        &*word.to_lowercase(),
        "sts"
            | "statefulset"
            | "statefulsets"
            | "ds"
            | "daemonset"
            | "daemonsets"
            | "rs"
            | "replicaset"
            | "replicasets"
            | "cj"
            | "cronjob"
            | "cronjobs"
            | "job"
            | "jobs"
            | "po"
            | "pod"
            | "pods"
            | "hpa"
            | "ns"
            | "namespace"
            | "namespaces"
            | "all"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<String>, TargetError> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        names(&words)
    }

    #[test]
    fn takes_what_kubectl_takes() {
        for (line, expected) in [
            ("", &[][..]),
            ("deploy/web", &["web"]),
            ("deployment/web deployments/api", &["web", "api"]),
            ("deployment.apps/web", &["web"]),
            ("deployments.v1.apps/web", &["web"]),
            ("Deployment/web", &["web"]),
            ("deploy web api", &["web", "api"]),
            ("deploy", &[]),
            ("deploy deploy", &["deploy"]),
            ("web api.v2 web", &["web", "api.v2"]),
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
            "sts/web",
            "statefulset web",
            "deploy/web pod/web-0",
            "deployments.extensions/web",
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
            "web?x=y",
            "-web",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    fn args(words: &[&str]) -> TargetArgs {
        TargetArgs {
            deployments: words.iter().map(ToString::to_string).collect(),
            namespace: None,
            all_namespaces: false,
            selector: None,
        }
    }

    #[test]
    fn looks_in_the_namespace_of_the_context_unless_told_another() {
        let named = |namespace: &str| Query::Named {
            namespace: namespace.to_owned(),
            names: vec!["web".to_owned()],
        };
        let web = args(&["deploy/web"]);
        assert_eq!(web.checked().unwrap().query("dev"), named("dev"));
        let web = TargetArgs {
            namespace: Some("test".to_owned()),
            ..web
        };
        assert_eq!(web.checked().unwrap().query("dev"), named("test"));

        let all = |namespace: Option<&str>| Query::All {
            namespace: namespace.map(str::to_owned),
            selector: None,
        };
        assert_eq!(args(&[]).checked().unwrap().query("dev"), all(Some("dev")));
        let everything = TargetArgs {
            namespace: Some("test".to_owned()),
            all_namespaces: true,
            ..args(&[])
        };
        assert_eq!(everything.checked().unwrap().query("dev"), all(None));
    }

    #[test]
    fn a_name_stands_alone() {
        let in_all = TargetArgs {
            all_namespaces: true,
            ..args(&["web"])
        };
        assert_eq!(in_all.checked(), Err(TargetError::NameInAllNamespaces));
        let by_label = TargetArgs {
            selector: Some("team=web".to_owned()),
            ..args(&["web"])
        };
        assert_eq!(by_label.checked(), Err(TargetError::NameAndSelector));
    }
}
