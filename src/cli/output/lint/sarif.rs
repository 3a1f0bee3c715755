//! SARIF 2.1.0, which code scanning reads.

use std::env;

use dayshift_manifest::{
    OpenError, STANDARD_INPUT, Severity, SourceFile,
    lint::{LintFinding, LintReport, LintRule},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cli::output::findings::region::Region;

/// The report as a SARIF log of one run.
pub(crate) fn document(report: &LintReport, sources: &[SourceFile], errors: &[OpenError]) -> Value {
    let rule = |it: &LintRule| {
        let mut rule = json!({
            "id": it.id(),
            "shortDescription": {"text": it.summary()},
            "help": {"text": format!("{} docs/reference/lint.md#{it} has examples.", it.summary())},
            "defaultConfiguration": {"level": level(*it)},
        });
        if let Some(uri) = help_uri(env!("CARGO_PKG_REPOSITORY"), *it) {
            rule["helpUri"] = json!(uri);
        }
        rule
    };
    let result = |it: &LintFinding| {
        let (source, region) = Region::of(it, sources)?;
        Some(json!({
            "ruleId": it.rule.id(),
            "ruleIndex": LintRule::ALL.iter().position(|rule| *rule == it.rule),
            "level": level(it.rule),
            "message": {"text": format!("{}; {}", it.message, it.help)},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": artifact(source.name()),
                    "region": {
                        "startLine": region.line,
                        "startColumn": region.column,
                        "endLine": region.line,
                        "endColumn": region.end_column,
                    },
                },
                "logicalLocations": it.object.iter().map(|object| json!({
                    "fullyQualifiedName": object.to_string(), "kind": "object",
                })).collect::<Vec<_>>(),
            }],
        }))
    };
    let notification = |it: &OpenError| {
        json!({
            "level": "error",
            "message": {"text": it.to_string()},
            "locations": [{"physicalLocation": {"artifactLocation": artifact(it.name())}}],
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dayshift",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": LintRule::ALL.iter().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": errors.is_empty(),
                "toolExecutionNotifications": errors.iter().map(notification).collect::<Vec<_>>(),
            }],
            "originalUriBaseIds": base(),
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().filter_map(result).collect::<Vec<_>>(),
        }],
    })
}

const fn level(rule: LintRule) -> &'static str {
    match rule.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Where the rule is described, in this version; `None` while `Cargo.toml` names no repository. It
/// has to be an absolute URI (3.49.12).
fn help_uri(repository: &str, rule: LintRule) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    let repository = Some(repository.trim_end_matches('/')).filter(|it| !it.is_empty())?;
    Some(format!(
        "{repository}/blob/v{version}/docs/reference/lint.md#{rule}"
    ))
}

/// The name that SARIF proposes for the folder of the sources (3.14.14, NOTE 2).
const BASE: &str = "%SRCROOT%";

/// Everything but the unreserved characters (RFC 3986, 2.3) and the slash.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// Where a file is: an absolute path as a URI of the scheme `file`, a relative one below the
/// folder that is worked in (3.4.4). Standard input has no URI, only a description.
fn artifact(name: &str) -> Value {
    if name == STANDARD_INPUT {
        json!({"description": {"text": STANDARD_INPUT}})
    } else if name.starts_with('/') {
        json!({"uri": format!("file://{}", uri(name))})
    } else {
        json!({"uri": uri(name), "uriBaseId": BASE})
    }
}

/// What relative paths are relative to, where that is known (3.14.14). GitHub takes them to be
/// relative to the root of the repository all the same.
fn base() -> Value {
    let folder = env::current_dir().unwrap_or_default();
    let folder = uri(&folder.to_string_lossy());
    let folder = folder.trim_end_matches('/');
    json!({BASE: {"uri": format!("file://{folder}/")}})
}

/// A path as a URI (RFC 3986), its odd bytes escaped.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_described_in_the_repository_if_there_is_one() {
        assert_eq!(help_uri("", LintRule::BadTimes), None);
        let expected = concat!(
            "https://git.example.com/dayshift/blob/v",
            env!("CARGO_PKG_VERSION"),
            "/docs/reference/lint.md#bad-times"
        );
        for repository in [
            "https://git.example.com/dayshift",
            "https://git.example.com/dayshift/",
        ] {
            assert_eq!(
                help_uri(repository, LintRule::BadTimes).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(uri("./a b/é.yaml"), "a%20b/%C3%A9.yaml");
        for (name, expected) in [
            (
                "a:b.yaml",
                json!({"uri": "a%3Ab.yaml", "uriBaseId": "%SRCROOT%"}),
            ),
            ("/a b.yaml", json!({"uri": "file:///a%20b.yaml"})),
            (
                "../a.yaml",
                json!({"uri": "../a.yaml", "uriBaseId": "%SRCROOT%"}),
            ),
            (
                "standard input",
                json!({"description": {"text": "standard input"}}),
            ),
        ] {
            assert_eq!(artifact(name), expected);
        }
    }
}
