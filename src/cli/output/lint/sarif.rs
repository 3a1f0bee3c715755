//! SARIF 2.1.0, which code scanning reads.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::region::Region;
use crate::{
    lint::{Finding, Report, Rule},
    manifest::Source,
};

/// The report as a SARIF log of one run.
pub(in crate::cli) fn document(report: &Report, sources: &[Source]) -> Value {
    let rule = |it: &Rule| {
        json!({
            "id": it.id(),
            "shortDescription": {"text": it.what()},
            "help": {"text": format!("{} docs/lint.md#{it} has examples.", it.what())},
            "defaultConfiguration": {"level": it.severity().to_string()},
        })
    };
    let result = |it: &Finding| {
        let source = sources.get(it.source)?;
        let region = Region::of(it, source);
        Some(json!({
            "ruleId": it.rule.id(),
            "ruleIndex": Rule::ALL.iter().position(|rule| *rule == it.rule),
            "level": it.rule.severity().to_string(),
            "message": {"text": format!("{}; {}", it.message, it.help)},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": uri(source.name())},
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
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dayshift",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().filter_map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Everything but the unreserved characters (RFC 3986, 2.3) and the slash.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// A path as a relative URI (RFC 3986), its odd bytes escaped.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(uri("./a b/é.yaml"), "a%20b/%C3%A9.yaml");
    }
}
