//! Label and field selectors: parsing, and matching against stored objects.

use std::{borrow::Cow, iter::Peekable, vec::IntoIter};

use crate::{
    objects::{Resource, names},
    store::Object,
};

/// The selectors of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selectors {
    /// The namespace, or empty for all.
    pub namespace: String,
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

impl Selectors {
    /// Parses both selectors. The error is the message of a 400.
    pub(crate) fn new(
        resource: &Resource,
        namespace: &str,
        labels: &str,
        fields: &str,
    ) -> Result<Self, String> {
        let fields = split(fields).into_iter().map(field_requirement);
        let fields: Vec<_> = fields.collect::<Result<_, _>>()?;
        let known = |field: &&Requirement| resource.fields().contains(&&*field.key);
        if let Some(Requirement { key, .. }) = fields.iter().find(|field| !known(field)) {
            return Err(match resource.fields() {
                ["metadata.name", "metadata.namespace"] if !resource.custom => format!(
                    "{key:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                ),
                _ => format!("field label not supported: {key}"),
            });
        }
        let labels = parse_label_selector(labels)?;
        Ok(Self {
            namespace: namespace.to_owned(),
            labels,
            fields,
        })
    }

    /// Whether all objects of the namespace match, so that the remaining items can be counted.
    pub(crate) fn matches_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn select(&self, object: &Object) -> bool {
        let label = |key: &str| {
            let label = object.labels.iter().find(|(known, _)| known == key);
            label.map(|(_, value)| value.as_str())
        };
        let field = |key: &str| match key {
            "metadata.name" => Cow::from(object.name()),
            "metadata.namespace" => Cow::from(object.namespace()),
            // The `status.phase` of a Namespace.
            _ => Cow::from(object.phase()),
        };
        let has_label = |wanted: &Requirement| wanted.matches(label(&wanted.key));
        let has_field = |wanted: &Requirement| wanted.matches(Some(&field(&wanted.key)));
        (self.namespace.is_empty() || self.namespace == object.namespace())
            && self.labels.iter().all(has_label)
            && self.fields.iter().all(has_field)
    }
}

/// Splits at commas that are not escaped.
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

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// Parses a label selector. The error is the message of a 400.
fn parse_label_selector(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser(tokens(text).into_iter().peekable());
    let mut requirements = Vec::new();
    loop {
        let token = parser.peek();
        if token.is_end() && requirements.is_empty() {
            return Ok(requirements);
        }
        if !token.begins_requirement() {
            let expected = "!, identifier, or 'end of string'";
            return Err(format!("found '{}', expected: {expected}", token.0));
        }
        let requirement = parser
            .requirement()
            .map_err(|why| format!("unable to parse requirement: {why}"))?;
        requirements.push(requirement);
        let token = parser.next();
        if token.is_end() {
            return Ok(requirements);
        }
        if token.0 != "," {
            let expected = "',' or 'end of string'";
            return Err(format!("found '{}', expected: {expected}", token.0));
        }
        let token = parser.peek();
        if !token.begins_requirement() {
            let expected = "identifier after ','";
            return Err(format!("found '{}', expected: {expected}", token.0));
        }
    }
}

/// A word or a symbol. The end is an empty text.
#[derive(Clone, Debug, Default)]
struct Token(String);

impl Token {
    fn is_end(&self) -> bool {
        self.0.is_empty()
    }

    fn is_word(&self) -> bool {
        !self.is_end() && !self.0.starts_with(is_symbol)
    }

    fn begins_requirement(&self) -> bool {
        self.is_word() || self.0 == "!"
    }
}

const fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_matches([' ', '\t', '\r', '\n']);
    while let Some(first) = rest.chars().next() {
        let ends = |c: char| is_symbol(c) || matches!(c, ' ' | '\t' | '\r' | '\n');
        let length = match first {
            _ if rest.starts_with("==") || rest.starts_with("!=") => 2,
            first if is_symbol(first) => 1,
            _ => rest.find(ends).unwrap_or(rest.len()),
        };
        tokens.push(Token(rest[..length].to_owned()));
        rest = rest[length..].trim_start_matches([' ', '\t', '\r', '\n']);
    }
    tokens
}

struct Parser(Peekable<IntoIter<Token>>);

impl Parser {
    fn peek(&mut self) -> Token {
        self.0.peek().cloned().unwrap_or_default()
    }

    fn next(&mut self) -> Token {
        self.0.next().unwrap_or_default()
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut key = self.next();
        let negated = key.0 == "!";
        if negated {
            key = self.next();
        }
        if !key.is_word() {
            return Err(format!("found '{}', expected: identifier", key.0));
        }
        if let Some(why) = names::label_key(&key.0).first() {
            return Err(format!("<nil>: Invalid value: {:?}: {why}", key.0));
        }
        let token = self.peek();
        if token.is_end() || token.0 == "," {
            let test = if negated { Test::Missing } else { Test::Exists };
            return Ok(Requirement { key: key.0, test });
        }
        if negated {
            // The server reports the rest only if it expects a comma there.
            let test = Test::Missing;
            return Ok(Requirement { key: key.0, test });
        }
        let operator = self.next();
        let test = match &*operator.0 {
            "in" => Test::In(self.values()?),
            "notin" => Test::NotIn(self.values()?),
            "=" | "==" => Test::In(self.value()?),
            "!=" => Test::NotIn(self.value()?),
            symbol @ (">" | "<") => {
                let text = self.value()?.swap_remove(0);
                let Ok(number) = text.parse() else {
                    return Err(format!(
                        "values[0]: Invalid value: {text:?}: for 'Gt', 'Lt' operators, the value must be an integer"
                    ));
                };
                if symbol == ">" {
                    Test::MoreThan(number)
                } else {
                    Test::LessThan(number)
                }
            }
            found => return Err(format!("found '{found}', expected: {OPERATORS}")),
        };
        check_values(&key.0, &test)?;
        Ok(Requirement { key: key.0, test })
    }

    /// The value of a comparison, which can be empty.
    fn value(&mut self) -> Result<Vec<String>, String> {
        let token = self.peek();
        if token.is_end() || token.0 == "," {
            return Ok(vec![String::new()]);
        }
        let token = self.next();
        if token.is_word() {
            return Ok(vec![token.0]);
        }
        Err(format!("found '{}', expected: identifier", token.0))
    }

    /// The values of a set, sorted. Between two commas is an empty one.
    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next();
        if open.0 != "(" {
            return Err(format!("found '{}' expected: '('", open.0));
        }
        let mut values = Vec::new();
        let mut expects_value = true;
        loop {
            let token = self.next();
            match &*token.0 {
                end @ (")" | ",") => {
                    if expects_value {
                        values.push(String::new());
                    }
                    if end == ")" {
                        break;
                    }
                    expects_value = true;
                }
                word if token.is_word() && expects_value => {
                    values.push(word.to_owned());
                    expects_value = false;
                }
                found if expects_value => {
                    return Err(format!("found '{found}', expected: ',', ')' or identifier"));
                }
                found => return Err(format!("found '{found}', expected: ',' or ')'")),
            }
        }
        values.sort();
        values.dedup();
        Ok(values)
    }
}

fn check_values(key: &str, test: &Test) -> Result<(), String> {
    let (Test::In(values) | Test::NotIn(values)) = test else {
        return Ok(());
    };
    for (index, value) in values.iter().enumerate() {
        if let Some(why) = names::label_value(value).first() {
            return Err(format!(
                "values[{index}][{key}]: Invalid value: {value:?}: {why}"
            ));
        }
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub key: String,
    pub test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    MoreThan(i64),
    LessThan(i64),
    Exists,
    Missing,
}

impl Requirement {
    /// Whether a label or field with this value, or without one, matches.
    pub(crate) fn matches(&self, value: Option<&str>) -> bool {
        let among =
            |values: &[String]| value.is_some_and(|value| values.iter().any(|v| v == value));
        let number = value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::In(values) => among(values),
            Test::NotIn(values) => !among(values),
            Test::MoreThan(least) => number.is_some_and(|number| number > *least),
            Test::LessThan(most) => number.is_some_and(|number| number < *most),
            Test::Exists => value.is_some(),
            Test::Missing => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::body::Bytes;

    use super::*;
    use crate::objects::DEPLOYMENTS;

    #[test]
    fn label_selectors_match_like_the_server() {
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
    fn empty_requirement_is_rejected() {
        assert!(Selectors::new(DEPLOYMENTS, "", "app in web", "").is_err());
        assert!(Selectors::new(DEPLOYMENTS, "", "=web", "").is_err());
        assert!(Selectors::new(DEPLOYMENTS, "", "", "spec.replicas=1").is_err());
    }
}
