//! Which live workloads, in the form of kubectl.

use clap::{builder::BoolishValueParser, error::ErrorKind};
use dayshift_cluster::Query;
use dayshift_text::quote;
use dayshift_workload::{Kind, names::is_dns_label};

use super::{
    kind_args::KindArgs,
    target_names::{Names, TargetError, is_of_namespaces, names, namespace_of},
};
use crate::cli::args::values::{selector::selector, value_parsers::one_namespace};

/// The arguments that name live workloads, alike in every subcommand that takes any.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct TargetArgs {
    /// Such as deploy/web sts/db, or deploy web api; web alone is a Deployment, dev/web is one in the
    /// namespace dev, and ns/dev is the whole namespace
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workloads: Vec<String>,

    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,
}

/// Where in a cluster to look.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct ScopeArgs {
    /// The namespace; repeatable [default: the context's]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = one_namespace
    )]
    pub(crate) namespace: Vec<String>,

    /// All namespaces; wins over -n, as in kubectl
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
    selector: Option<String>,
}

impl ScopeArgs {
    /// The namespaces that are named, unless all are meant.
    pub(crate) fn namespaces(&self) -> &[String] {
        if self.all_namespaces {
            &[]
        } else {
            &self.namespace
        }
    }

    /// The label selector, if one is given that is not empty.
    pub(crate) fn selector(&self) -> Option<&str> {
        self.selector.as_deref().filter(|it| !it.is_empty())
    }

    /// Whether more is said than a namespace.
    pub(crate) fn is_wide(&self) -> bool {
        self.all_namespaces || self.selector().is_some()
    }
}

/// Which workloads are meant, once the namespace of the context is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    names: Names,
    namespaces: Vec<String>,
    all_namespaces: bool,
    selector: Option<String>,
    /// Whether the whole namespace was named: `ns/team`.
    is_whole: bool,
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
        let (kind, names, named_in) = names(&self.workloads)?;
        let selector = self.scope.selector().map(str::to_owned);
        if !names.is_empty() && selector.is_some() {
            return Err(TargetError::NameAndSelector);
        }
        if !names.is_empty() && self.scope.all_namespaces {
            return Err(TargetError::NameInAllNamespaces);
        }
        let mut others = self.scope.namespace.iter();
        if let Some(named) = &named_in
            && let Some(other) = others.find(|it| *it != named)
        {
            return Err(TargetError::NeitherKindNorNamespace(
                named.clone(),
                other.clone(),
            ));
        }
        let namespaces = named_in.map_or_else(|| self.scope.namespace.clone(), |it| vec![it]);
        if !names.is_empty() && namespaces.iter().any(|it| *it != namespaces[0]) {
            return Err(TargetError::NameInNamespaces);
        }
        Ok(Targets {
            kinds: kind.map_or_else(|| self.kinds.kinds(), |kind| vec![kind]),
            names,
            namespaces,
            all_namespaces: self.scope.all_namespaces,
            selector,
            is_whole: false,
        })
    }

    /// All of one namespace, where that is what is named.
    fn whole_namespace(&self) -> Result<Option<Targets>, TargetError> {
        let words: Vec<_> = self.workloads.iter().map(|it| &**it).collect();
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
        let is_alone = self.scope.namespace.iter().all(|it| it == name) && !self.scope.is_wide();
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
            namespaces: vec![name.to_owned()],
            all_namespaces: false,
            selector: None,
            is_whole: true,
        }))
    }
}

impl Targets {
    /// Where to look; `context` is the namespace of the context, which a client knows
    /// (`kube::Client::default_namespace`).
    pub(crate) fn query(&self, context: &str) -> Query {
        let mut namespaces = self.namespaces.clone();
        if namespaces.is_empty() {
            namespaces.push(context.to_owned());
        }
        if let (false, [namespace, ..]) = (self.names.is_empty(), &*namespaces) {
            return Query::named(namespace, self.names.iter().cloned());
        }
        if self.all_namespaces {
            namespaces.clear();
        }
        Query::all(&self.kinds, &namespaces, self.selector.clone())
    }

    /// Whether workloads are named, or chosen by label.
    pub(crate) fn are_chosen(&self) -> bool {
        !self.names.is_empty() || self.selector.is_some() || self.is_whole
    }

    /// The namespace that was named as a whole: `ns/team`.
    pub(crate) fn whole_namespace(&self) -> Option<&str> {
        let name = self.namespaces.first();
        name.map(|it| &**it).filter(|_| self.is_whole)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        targets: TargetArgs,
    }

    fn checked(line: &str) -> Result<Targets, TargetError> {
        let words = ["dayshift"].into_iter().chain(line.split_whitespace());
        Program::parse_from(words).targets.checked()
    }

    #[test]
    fn looks_in_the_namespace_of_the_context_unless_told_another() {
        let query = |line: &str| checked(line).unwrap().query("dev");
        let named =
            |namespace: &str| Query::named(namespace, [(Kind::DEPLOYMENT, "web".to_owned())]);
        assert_eq!(query("deploy/web"), named("dev"));
        assert_eq!(query("deploy/web -n test"), named("test"));

        let all = |namespaces: &[&str]| {
            let namespaces: Vec<_> = namespaces.iter().map(ToString::to_string).collect();
            Query::all(&Kind::DEFAULT, &namespaces, None)
        };
        assert_eq!(query(""), all(&["dev"]));
        assert_eq!(query("-n tokyo -n ny"), all(&["tokyo", "ny"]));
        // As in kubectl.
        assert_eq!(query("-n test -A"), all(&[]));
        let of_a_kind = Query::all(&[Kind::STATEFUL_SET], &["dev".to_owned()], None);
        assert_eq!(query("sts"), of_a_kind);
    }

    #[test]
    fn a_name_stands_alone() {
        for (line, error) in [
            ("web -A", TargetError::NameInAllNamespaces),
            ("web -n tokyo -n ny", TargetError::NameInNamespaces),
            ("web -l team=web", TargetError::NameAndSelector),
            (
                "dev/web -n test",
                TargetError::NeitherKindNorNamespace("dev".to_owned(), "test".to_owned()),
            ),
        ] {
            assert_eq!(checked(line), Err(error), "{line}");
        }
    }
}
