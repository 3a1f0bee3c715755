//! Label and field selectors of lists and watches.

use std::borrow::Cow;

use super::label_selector;
use super::requirement::{Requirement, Test};
use crate::objects::Resource;
use crate::store::Object;

/// What a list or a watch leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selectors {
    /// Only this namespace; empty for all.
    pub namespace: String,
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

impl Selectors {
    /// Reads both texts; an error is the message of a 400.
    pub(crate) fn new(
        resource: &Resource,
        namespace: &str,
        labels: &str,
        fields: &str,
    ) -> Result<Self, String> {
        let fields: Vec<_> = split(fields)
            .into_iter()
            .map(field_requirement)
            .collect::<Result<_, _>>()?;
        let known = |field: &&Requirement| resource.fields.contains(&&*field.key);
        if let Some(Requirement { key, .. }) = fields.iter().find(|field| !known(field)) {
            return Err(match resource.fields {
                ["metadata.name", "metadata.namespace"] if !resource.custom => format!(
                    "{key:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                ),
                _ => format!("field label not supported: {key}"),
            });
        }
        let labels = label_selector::parse(labels)?;
        Ok(Self {
            namespace: namespace.to_owned(),
            labels,
            fields,
        })
    }

    /// Whether every object of the namespace is meant, so that the rest of a list can be counted.
    pub(crate) fn take_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn select(&self, object: &Object) -> bool {
        let label = |key: &str| {
            object
                .labels
                .iter()
                .find(|(known, _)| known == key)
                .map(|(_, value)| value.as_str())
        };
        let field = |key: &str| match key {
            "metadata.name" => Cow::from(object.name()),
            "metadata.namespace" => Cow::from(object.namespace()),
            // `status.phase` of a Namespace
            _ => Cow::from(object.phase()),
        };
        (self.namespace.is_empty() || self.namespace == object.namespace())
            && self
                .labels
                .iter()
                .all(|requirement| requirement.holds(label(&requirement.key)))
            && self
                .fields
                .iter()
                .all(|requirement| requirement.holds(Some(&field(&requirement.key))))
    }
}

/// Splits at the commas that no backslash stands before.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    let parts = text.split(|c| {
        let ends = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn field_requirement(text: &str) -> Result<Requirement, String> {
    let (key, test) = comparison(text)
        .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{text}'"))?;
    Ok(Requirement { key, test })
}

fn comparison(text: &str) -> Option<(String, Test)> {
    let make = |key: &str, value: &str, test: fn(Vec<String>) -> Test| {
        (key.trim().to_owned(), test(vec![value.trim().to_owned()]))
    };
    if let Some((key, value)) = text.split_once("!=") {
        return Some(make(key, value, Test::NotIn));
    }
    let (key, value) = text.split_once("==").or_else(|| text.split_once('='))?;
    Some(make(key, value, Test::In))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::DEPLOYMENTS;
    use hyper::body::Bytes;

    #[test]
    fn labels_select_as_kubectl_users_expect() {
        let object = Object {
            key: "shop/web".into(),
            revision: 1,
            labels: vec![
                ("app".into(), "web".into()),
                ("dayshift/state".into(), "stopped".into()),
                ("count".into(), "3".into()),
            ],
            deleting: false,
            body: Bytes::new(),
        };
        for (labels, fields, selected) in [
            ("", "", true),
            ("app=web", "", true),
            ("app==web,dayshift/state", "", true),
            ("app!=web", "", false),
            ("tier!=front", "", true),
            ("tier", "", false),
            ("!tier", "", true),
            ("!app", "", false),
            ("app in (api, web)", "", true),
            ("app notin (api,web)", "", false),
            ("tier notin (front),app", "", true),
            ("count>2", "", true),
            ("count>3", "", false),
            ("count<4", "", true),
            ("app>2", "", false),
            ("tier>2", "", false),
            ("", "metadata.name=web", true),
            ("", "metadata.name!=web", false),
            ("", "metadata.namespace=shop,metadata.name==web", true),
            ("", "metadata.namespace=other", false),
        ] {
            let selectors = Selectors::new(DEPLOYMENTS, "", labels, fields).unwrap();
            assert_eq!(selectors.select(&object), selected, "{labels} {fields}");
        }
        assert!(
            !Selectors::new(DEPLOYMENTS, "other", "", "")
                .unwrap()
                .select(&object)
        );
        assert!(
            Selectors::new(DEPLOYMENTS, "shop", "", "")
                .unwrap()
                .select(&object)
        );
    }

    #[test]
    fn a_selector_that_says_nothing_is_refused() {
        assert!(Selectors::new(DEPLOYMENTS, "", "app in web", "").is_err());
        assert!(Selectors::new(DEPLOYMENTS, "", "=web", "").is_err());
        assert!(Selectors::new(DEPLOYMENTS, "", "", "spec.replicas=1").is_err());
    }
}
