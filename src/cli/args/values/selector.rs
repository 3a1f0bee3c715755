//! Label selectors, checked before the API server would refuse them at each try.

use dayshift_workload::names::{is_dns_subdomain, is_label_value};

/// A label selector as kubectl's `-l` takes it (apimachinery's `labels.Parse`): requirements with
/// commas between them, each `key`, `!key`, `key=value`, `key!=value`, `key in (a,b)`,
/// `key notin (a,b)`, `key>1` or `key<1`. The empty one selects all.
pub(crate) fn selector(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || requirements(text).all(is_requirement) {
        return Ok(text.trim().to_owned());
    }
    Err("write a label selector such as team=web,tier!=db or 'team in (web,shop)'".to_owned())
}

/// The key of a label, such as `team` or `example.com/team`.
pub(crate) fn label_key(text: &str) -> Result<String, String> {
    let text = text.trim();
    let wrong = || "write the key of a label, such as team or example.com/team".to_owned();
    is_key(text).then(|| text.to_owned()).ok_or_else(wrong)
}

/// The parts between those commas that stand in no brackets.
fn requirements(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    })
}

fn is_requirement(text: &str) -> bool {
    let text = text.trim();
    if let Some(key) = text.strip_prefix('!') {
        return is_key(key.trim());
    }
    if let Some((left, list)) = text.split_once('(') {
        let mut words = left.split_whitespace();
        let (key, operator) = (words.next().unwrap_or_default(), words.next());
        let Some(values) = list.strip_suffix(')') else {
            return false;
        };
        return is_key(key)
            && matches!(operator, Some("in" | "notin"))
            && words.next().is_none()
            && values.split(',').all(|value| is_label_value(value.trim()));
    }
    for operator in ["!=", "==", "="] {
        if let Some((key, value)) = text.split_once(operator) {
            return is_key(key.trim()) && is_label_value(value.trim());
        }
    }
    if let Some((key, number)) = text.split_once(['>', '<']) {
        let number = number.trim();
        return is_key(key.trim()) && is_label_value(number) && number.parse::<i64>().is_ok();
    }
    is_key(text)
}

/// `name` or `prefix/name`.
fn is_key(text: &str) -> bool {
    let (prefix, name) = text
        .split_once('/')
        .map_or((None, text), |(it, name)| (Some(it), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_dns_subdomain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_the_api_server_takes() {
        for good in [
            "",
            "team",
            "!team",
            "! team",
            "team=web",
            "team==web",
            "team = web , tier != db",
            "team=",
            "app.kubernetes.io/name=web",
            "team in (web,shop),tier notin (db)",
            "team in(web)",
            "team in (web, )",
            "team in ()",
            "priority>3",
            "priority < 3",
        ] {
            assert_eq!(selector(good).as_deref(), Ok(good), "{good}");
        }
    }

    #[test]
    fn a_selector_that_kubernetes_refuses_is_refused() {
        for bad in [
            ",",
            "team=web,",
            "=web",
            "team in web",
            "team in (web",
            "team (web)",
            "team within (web)",
            "team=web shop",
            "team=(web)",
            "team=-web",
            "priority>high",
            "priority>-3",
            "a/b/c=d",
            "/team=web",
            "Größe=1",
        ] {
            assert!(
                selector(bad).unwrap_err().contains("such as team=web"),
                "{bad}"
            );
        }
    }
}
