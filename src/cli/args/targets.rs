//! Which live workloads, in the form of kubectl.

use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::{
    kind_args::{KindArgs, custom_kind},
    selector::selector,
    value_parsers::one_namespace,
};
use crate::{
    cluster::Query,
    names::{is_dns_label, is_dns_subdomain},
    text::quote,
    workload::Kind,
};

/// The arguments that name live workloads, alike in every subcommand that takes any.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct TargetArgs {
    /// The workloads, such as deploy/web sts/db, or deploy web api; a name alone is a Deployment's,
    /// dev/web is web in the namespace dev, and ns/dev is the whole namespace
    #[arg(value_name = "WORKLOAD")]
    pub(crate) deployments: Vec<String>,

    /// The namespace [default: the namespace of the context]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_parser = one_namespace
    )]
    pub(crate) namespace: Option<String>,

    /// All namespaces
    #[arg(
        short = 'A',
        long,
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) all_namespaces: bool,

    /// A label selector, such as `team=web,tier!=db`
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        value_parser = selector
    )]
    pub(crate) selector: Option<String>,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,
}

/// Kinds and names, in the order in which they were given.
type Names = Vec<(Kind, String)>;

/// Which workloads are meant, once the namespace of the context is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    names: Names,
    namespace: Option<String>,
    all_namespaces: bool,
    selector: Option<String>,
    /// Whether the whole namespace was named: `ns/team`.
    is_whole: bool,
}

/// Why these arguments name no workloads.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum TargetError {
    #[error("`{0}` is not of a kind that dayshift scales; write for example deploy/web or sts/db")]
    OtherKind(String),
    #[error("`{0}` is not the name of a workload; write for example deploy/web, or deploy web api")]
    NoName(String),
    #[error("names need one namespace: use -n NAME instead of -A")]
    NameInAllNamespaces,
    #[error("`{0}` is in another namespace; name the workloads of one namespace at a time")]
    OtherNamespace(String),
    #[error("`{0}` stands alone: name one namespace, and nothing else")]
    NamespaceAndOthers(String),
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
        if let Some(whole) = self.whole_namespace()? {
            return Ok(whole);
        }
        let (kind, names, named_in) = names(&self.deployments)?;
        let selector = self.selector.clone().filter(|text| !text.is_empty());
        if !names.is_empty() && selector.is_some() {
            return Err(TargetError::NameAndSelector);
        }
        if !names.is_empty() && self.all_namespaces {
            return Err(TargetError::NameInAllNamespaces);
        }
        let namespace = self.namespace.as_ref();
        if let (Some(named), Some(other)) = (&named_in, namespace)
            && named != other
        {
            return Err(TargetError::OtherNamespace(named.clone()));
        }
        Ok(Targets {
            kinds: kind.map_or_else(|| self.kinds.kinds(), |kind| vec![kind]),
            names,
            namespace: named_in.or_else(|| namespace.cloned()),
            all_namespaces: self.all_namespaces,
            selector,
            is_whole: false,
        })
    }

    /// All of one namespace, where that is what is named.
    fn whole_namespace(&self) -> Result<Option<Targets>, TargetError> {
        let words: Vec<_> = self.deployments.iter().map(|it| &**it).collect();
        let name = match words[..] {
            [word, name] if is_of_namespaces(word) => name,
            _ => match words.iter().find_map(|word| namespace_of(word)) {
                Some(name) if words.len() == 1 => name,
                Some(name) => {
                    return Err(TargetError::NamespaceAndOthers(quote(&format!(
                        "ns/{name}"
                    ))));
                }
                None => return Ok(None),
            },
        };
        let is_alone = self.namespace.as_deref().is_none_or(|it| it == name)
            && !self.all_namespaces
            && self.selector.as_deref().is_none_or(str::is_empty);
        if !is_alone {
            return Err(TargetError::NamespaceAndOthers(quote(&format!(
                "ns/{name}"
            ))));
        }
        if !is_dns_label(name) {
            return Err(TargetError::NoName(quote(name)));
        }
        Ok(Some(Targets {
            kinds: self.kinds.kinds(),
            names: Names::new(),
            namespace: Some(name.to_owned()),
            all_namespaces: false,
            selector: None,
            is_whole: true,
        }))
    }
}

/// Whether a word means Namespaces, as in kubectl.
fn is_of_namespaces(word: &str) -> bool {
    matches!(&*word.to_lowercase(), "ns" | "namespace" | "namespaces")
}

/// The name in `ns/team`.
fn namespace_of(word: &str) -> Option<&str> {
    let (kind, name) = word.split_once('/')?;
    is_of_namespaces(kind).then_some(name)
}

impl Targets {
    /// Where to look; `context` is the namespace of the context, which a client knows
    /// (`kube::Client::default_namespace`).
    pub(crate) fn query(&self, context: &str) -> Query {
        let namespace = self.namespace.as_deref().unwrap_or(context).to_owned();
        if self.names.is_empty() {
            Query::All {
                kinds: self.kinds.clone(),
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

    /// Whether workloads are named, or chosen by label.
    pub(crate) fn are_chosen(&self) -> bool {
        !self.names.is_empty() || self.selector.is_some() || self.is_whole
    }

    /// The namespace that was named as a whole: `ns/team`.
    pub(crate) fn whole_namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|_| self.is_whole)
    }
}

/// `deploy/web`, several of them, `deploy web api`, or names alone, which are Deployments'; a kind
/// alone is all of its kind. `dev/web` and `dev/sts/db`, as `status` names them, name the namespace
/// too.
fn names(words: &[String]) -> Result<(Option<Kind>, Names, Option<String>), TargetError> {
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
            None => (kind.unwrap_or(Kind::Deployment), rest),
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
    Kind::from_argument(word).or_else(|| custom_kind(word))
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

    fn args(words: &[&str]) -> TargetArgs {
        TargetArgs {
            deployments: words.iter().map(ToString::to_string).collect(),
            namespace: None,
            all_namespaces: false,
            selector: None,
            kinds: KindArgs::default(),
        }
    }

    #[test]
    fn looks_in_the_namespace_of_the_context_unless_told_another() {
        let named = |namespace: &str| Query::Named {
            namespace: namespace.to_owned(),
            names: vec![(Kind::Deployment, "web".to_owned())],
        };
        let web = args(&["deploy/web"]);
        assert_eq!(web.checked().unwrap().query("dev"), named("dev"));
        let web = TargetArgs {
            namespace: Some("test".to_owned()),
            ..web
        };
        assert_eq!(web.checked().unwrap().query("dev"), named("test"));

        let all = |namespace: Option<&str>| Query::All {
            kinds: Kind::DEFAULT.to_vec(),
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
        let of_a_kind = Query::All {
            kinds: vec![Kind::StatefulSet],
            namespace: Some("dev".to_owned()),
            selector: None,
        };
        assert_eq!(args(&["sts"]).checked().unwrap().query("dev"), of_a_kind);
    }

    #[test]
    fn a_name_stands_alone() {
        let in_all = TargetArgs {
            all_namespaces: true,
            ..args(&["web"])
        };
        assert_eq!(in_all.checked(), Err(TargetError::NameInAllNamespaces));
        let elsewhere = TargetArgs {
            namespace: Some("test".to_owned()),
            ..args(&["dev/web"])
        };
        assert_eq!(
            elsewhere.checked(),
            Err(TargetError::OtherNamespace("dev".to_owned()))
        );
        let by_label = TargetArgs {
            selector: Some("team=web".to_owned()),
            ..args(&["web"])
        };
        assert_eq!(by_label.checked(), Err(TargetError::NameAndSelector));
    }
}
