//! The language of label selectors, as `k8s.io/apimachinery/pkg/labels` reads it.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::requirement::{Requirement, Test};
use crate::objects::names;

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// Reads a selector; an error is the message of a 400.
pub(crate) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
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

/// A word or a symbol; the end is the empty text.
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
        let length = if is_symbol(first) {
            if rest.starts_with("==") || rest.starts_with("!=") {
                2
            } else {
                1
            }
        } else {
            let ends = |c: char| is_symbol(c) || matches!(c, ' ' | '\t' | '\r' | '\n');
            rest.find(ends).unwrap_or(rest.len())
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
            // The server leaves the rest to whoever looks for a comma.
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

    /// The one value of a comparison; nothing is the empty text.
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

    /// The values of a set, sorted; between two commas is the empty text.
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
                ")" => {
                    if expects_value {
                        values.push(String::new());
                    }
                    break;
                }
                "," => {
                    if expects_value {
                        values.push(String::new());
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
