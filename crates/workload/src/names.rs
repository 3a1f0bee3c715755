//! The syntax of names, labels and annotations in Kubernetes.

/// Whether a string is a DNS label (RFC 1123), such as the name of a namespace: 1 to 63 of `a-z`,
/// `0-9` and `-`, without a `-` at either end.
pub fn is_dns_label(text: &str) -> bool {
    (1..=63).contains(&text.len()) && is_label(text)
}

/// Whether a string is a DNS subdomain as the API server checks it, such as most names of objects:
/// labels of any length, separated by dots, at most 253 bytes.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Whether a string is a label value: empty, or at most 63 letters, digits, `-`, `_` and `.`, with
/// a letter or digit at both ends.
pub fn is_label_value(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |character: char| character.is_ascii_alphanumeric();
    text.is_empty()
        || (text.len() <= 63
            && text.bytes().all(inner)
            && text.starts_with(edge)
            && text.ends_with(edge))
}

/// Whether a string is a label key: a name with the syntax of a nonempty value, optionally after a
/// domain and a slash. In an annotation key the domain can have capital letters.
pub fn is_label_key(text: &str) -> bool {
    let (domain, name) = text.rsplit_once('/').unwrap_or(("a", text));
    is_dns_subdomain(domain) && !name.is_empty() && is_label_value(name)
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_same_names_as_the_api_server() {
        let long = "a".repeat(64);
        for (text, label, subdomain, value) in [
            ("web", true, true, true),
            ("0-a", true, true, true),
            ("a.b", false, true, true),
            ("", false, false, true),
            ("-a", false, false, false),
            ("a-", false, false, false),
            ("a..b", false, false, true),
            ("Web_1", false, false, true),
            ("ä", false, false, false),
            (&long, false, true, false),
        ] {
            assert_eq!(
                (
                    is_dns_label(text),
                    is_dns_subdomain(text),
                    is_label_value(text)
                ),
                (label, subdomain, value),
                "{text}"
            );
        }
    }
}
