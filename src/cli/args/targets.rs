//! Which live workloads, in the form of kubectl.

use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::{
    kind_args::KindArgs,
    target_names::{Names, TargetError, is_of_namespaces, names, namespace_of},
};
use crate::cli::args::values::{selector::selector, value_parsers::one_namespace};
use crate::{cluster::Query, names::is_dns_label, text::quote, workload::Kind};

/// The arguments that name live workloads, alike in every subcommand that takes any.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct TargetArgs {
    /// The workloads, such as deploy/web sts/db, or deploy web api; a name alone is a Deployment's,
    /// dev/web is web in the namespace dev, and ns/dev is the whole namespace
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workloads: Vec<String>,

    /// The namespace; repeatable, or a list with commas [default: the namespace of the context]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = one_namespace
    )]
    pub(crate) namespace: Vec<String>,

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
        let selector = self.selector.clone().filter(|text| !text.is_empty());
        if !names.is_empty() && selector.is_some() {
            return Err(TargetError::NameAndSelector);
        }
        if !names.is_empty() && self.all_namespaces {
            return Err(TargetError::NameInAllNamespaces);
        }
        let mut others = self.namespace.iter();
        if let Some(named) = &named_in
            && let Some(other) = others.find(|it| *it != named)
        {
            return Err(TargetError::NeitherKindNorNamespace(
                named.clone(),
                other.clone(),
            ));
        }
        let namespaces = named_in.map_or_else(|| self.namespace.clone(), |it| vec![it]);
        if !names.is_empty() && namespaces.iter().any(|it| *it != namespaces[0]) {
            return Err(TargetError::NameInNamespaces);
        }
        Ok(Targets {
            kinds: kind.map_or_else(|| self.kinds.kinds(), |kind| vec![kind]),
            names,
            namespaces,
            all_namespaces: self.all_namespaces,
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
        let is_alone = self.namespace.iter().all(|it| it == name)
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
    use super::*;

    fn args(words: &[&str]) -> TargetArgs {
        TargetArgs {
            workloads: words.iter().map(ToString::to_string).collect(),
            namespace: Vec::new(),
            all_namespaces: false,
            selector: None,
            kinds: KindArgs::default(),
        }
    }

    #[test]
    fn looks_in_the_namespace_of_the_context_unless_told_another() {
        let named =
            |namespace: &str| Query::named(namespace, [(Kind::DEPLOYMENT, "web".to_owned())]);
        let web = args(&["deploy/web"]);
        assert_eq!(web.checked().unwrap().query("dev"), named("dev"));
        let web = TargetArgs {
            namespace: vec!["test".to_owned()],
            ..web
        };
        assert_eq!(web.checked().unwrap().query("dev"), named("test"));

        let all = |namespaces: &[&str]| {
            let namespaces: Vec<_> = namespaces.iter().map(ToString::to_string).collect();
            Query::all(&Kind::DEFAULT, &namespaces, None)
        };
        assert_eq!(args(&[]).checked().unwrap().query("dev"), all(&["dev"]));
        let two = TargetArgs {
            namespace: vec!["tokyo".to_owned(), "ny".to_owned()],
            ..args(&[])
        };
        assert_eq!(two.checked().unwrap().query("dev"), all(&["tokyo", "ny"]));
        let everything = TargetArgs {
            namespace: vec!["test".to_owned()],
            all_namespaces: true,
            ..args(&[])
        };
        assert_eq!(everything.checked().unwrap().query("dev"), all(&[]));
        let of_a_kind = Query::all(&[Kind::STATEFUL_SET], &["dev".to_owned()], None);
        assert_eq!(args(&["sts"]).checked().unwrap().query("dev"), of_a_kind);
    }

    #[test]
    fn a_name_stands_alone() {
        let in_all = TargetArgs {
            all_namespaces: true,
            ..args(&["web"])
        };
        assert_eq!(in_all.checked(), Err(TargetError::NameInAllNamespaces));
        let in_two = TargetArgs {
            namespace: vec!["tokyo".to_owned(), "ny".to_owned()],
            ..args(&["web"])
        };
        assert_eq!(in_two.checked(), Err(TargetError::NameInNamespaces));
        let elsewhere = TargetArgs {
            namespace: vec!["test".to_owned()],
            ..args(&["dev/web"])
        };
        assert_eq!(
            elsewhere.checked(),
            Err(TargetError::NeitherKindNorNamespace(
                "dev".to_owned(),
                "test".to_owned()
            ))
        );
        let by_label = TargetArgs {
            selector: Some("team=web".to_owned()),
            ..args(&["web"])
        };
        assert_eq!(by_label.checked(), Err(TargetError::NameAndSelector));
    }
}
