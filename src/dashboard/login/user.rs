//! The user that a proxy names in the headers of a request.

use dayshift_text::is_unprintable;
use http::{HeaderMap, HeaderName};

/// The most bytes of a name. Kubernetes has no bound; the longest that people use are paths of LDAP.
const MAX_NAME: usize = 512;
/// The most groups of a user: as many as a proxy can put into the head of a request.
const MAX_GROUPS: usize = 512;
/// What the names of Kubernetes' own users and groups begin with, such as `system:masters`.
const RESERVED: &str = "system:";

/// Somebody as whom the API server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name, as Kubernetes' roles have it.
    pub name: String,
    /// The groups, likewise.
    pub groups: Vec<String>,
}

/// In which headers a proxy names a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserHeaders {
    /// The name.
    pub user: HeaderName,
    /// The groups, separated by commas.
    pub groups: Option<HeaderName>,
}

/// Why nobody is logged in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoginError {
    /// The request does not come from a trusted proxy.
    #[error(
        "This request did not come through the login: its address is not one of --trusted-proxy. \
         Open the address of the authenticating proxy."
    )]
    Untrusted,
    /// A header is missing.
    #[error("The proxy names no user: the header {0} is missing. Log in at the proxy.")]
    Missing(HeaderName),
    /// A header is there more than once.
    #[error(
        "The header {0} came more than once. The proxy has to remove what a browser sends in it."
    )]
    Doubled(HeaderName),
    /// A name is empty, too long or holds what nobody can read, or there are too many.
    #[error(
        "The header {0} holds no name that Kubernetes can be asked with: it is empty, longer than \
         {MAX_NAME} bytes, no UTF-8, or has invisible characters; or there are more than {MAX_GROUPS}."
    )]
    Unreadable(HeaderName),
    /// A name is one of Kubernetes' own.
    #[error(
        "The header {0} names a user or group that begins with {RESERVED}, which is Kubernetes' own. \
         Nobody acts as one of these here."
    )]
    Reserved(HeaderName),
    /// The system gives nothing random, or a client cannot be made.
    #[error("Nobody can log in now: {0}")]
    System(String),
}

impl UserHeaders {
    /// The user whom these headers name.
    pub(super) fn user(&self, headers: &HeaderMap) -> Result<User, LoginError> {
        let name =
            one(headers, &self.user)?.ok_or_else(|| LoginError::Missing(self.user.clone()))?;
        let name = checked(name, &self.user)?;
        let mut groups = Vec::new();
        if let Some(header) = &self.groups {
            let listed = one(headers, header)?.unwrap_or_default();
            let listed = listed.split(',').map(str::trim).filter(|it| !it.is_empty());
            for group in listed {
                groups.push(checked(group, header)?);
            }
            if groups.len() > MAX_GROUPS {
                return Err(LoginError::Unreadable(header.clone()));
            }
        }
        Ok(User { name, groups })
    }
}

/// The text of a header that comes at most once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, LoginError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match str::from_utf8(value.as_bytes()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(LoginError::Unreadable(name.clone())),
        },
        _ => Err(LoginError::Doubled(name.clone())),
    }
}

fn checked(text: &str, header: &HeaderName) -> Result<String, LoginError> {
    if text.trim().is_empty() || text.len() > MAX_NAME || text.chars().any(is_unprintable) {
        return Err(LoginError::Unreadable(header.clone()));
    }
    if text.starts_with(RESERVED) {
        return Err(LoginError::Reserved(header.clone()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const USER: HeaderName = HeaderName::from_static("x-forwarded-user");
    const GROUPS: HeaderName = HeaderName::from_static("x-forwarded-groups");

    fn read(pairs: &[(HeaderName, &[u8])]) -> Result<User, LoginError> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        let named = UserHeaders {
            user: USER,
            groups: Some(GROUPS),
        };
        named.user(&headers)
    }

    #[test]
    fn a_user_is_named_once_with_groups_between_commas() {
        let jane = read(&[
            (USER, b"jane@example.com"),
            (GROUPS, b"team-a, all staff,,"),
        ]);
        let expected = User {
            name: "jane@example.com".to_owned(),
            groups: vec!["team-a".to_owned(), "all staff".to_owned()],
        };
        assert_eq!(jane, Ok(expected));
        let alone = read(&[(USER, "Jürgen".as_bytes())]).unwrap();
        assert_eq!((&*alone.name, alone.groups.len()), ("Jürgen", 0));
        assert_eq!(
            read(&[(USER, b"jane"), (GROUPS, b"")])
                .unwrap()
                .groups
                .len(),
            0
        );
    }

    #[test]
    fn a_name_that_is_missing_doubled_reserved_or_unreadable_is_nobody() {
        let long = "x".repeat(MAX_NAME + 1);
        let many = "g,".repeat(MAX_GROUPS + 1);
        for (pairs, expected) in [
            (&[][..], LoginError::Missing(USER)),
            (&[(GROUPS, &b"team-a"[..])], LoginError::Missing(USER)),
            (
                &[(USER, b"jane"), (USER, b"jane")],
                LoginError::Doubled(USER),
            ),
            (&[(USER, b"")], LoginError::Unreadable(USER)),
            (&[(USER, b" ")], LoginError::Unreadable(USER)),
            (&[(USER, b"ja\tne")], LoginError::Unreadable(USER)),
            (
                &[(USER, "ja\u{202e}ne".as_bytes())],
                LoginError::Unreadable(USER),
            ),
            (&[(USER, b"ja\xffne")], LoginError::Unreadable(USER)),
            (&[(USER, long.as_bytes())], LoginError::Unreadable(USER)),
            (&[(USER, b"system:admin")], LoginError::Reserved(USER)),
            (
                &[(USER, b"system:serviceaccount:dayshift:dayshift")],
                LoginError::Reserved(USER),
            ),
            (
                &[(USER, b"jane"), (GROUPS, b"a"), (GROUPS, b"b")],
                LoginError::Doubled(GROUPS),
            ),
            (
                &[(USER, b"jane"), (GROUPS, b"team-a, system:masters")],
                LoginError::Reserved(GROUPS),
            ),
            (
                &[(USER, b"jane"), (GROUPS, "a\u{200b}".as_bytes())],
                LoginError::Unreadable(GROUPS),
            ),
            (
                &[(USER, b"jane"), (GROUPS, many.as_bytes())],
                LoginError::Unreadable(GROUPS),
            ),
        ] {
            assert_eq!(read(pairs), Err(expected), "{pairs:?}");
        }
    }
}
