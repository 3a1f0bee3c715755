//! Users whom an authenticating proxy names in headers. Each sees and does what the API server allows them.

use std::{
    collections::VecDeque,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use dayshift_cluster::{connect::acting_as, read::FindError};
use dayshift_text::is_unprintable;
use dayshift_workload::Kind;
use http::{HeaderMap, HeaderName, request::Parts};
use kube::Client;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::dashboard::{
    access::Token,
    permissions::{KnownPermissions, Permissions, Verb, places},
    proxy::{SECRET_HEADER, TrustedProxy},
    view::View,
};

/// The maximum length of a user or group name in bytes. Kubernetes has no limit; LDAP paths are the longest
/// in practice.
const MAX_NAME: usize = 512;
/// The maximum number of groups of a user, as many as fit into a request head.
const MAX_GROUPS: usize = 512;
/// The prefix of Kubernetes' own users and groups, for example `system:masters`.
const RESERVED: &str = "system:";

/// A user whom the API server can be asked to impersonate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user name in Kubernetes roles.
    pub name: String,
    /// The group names in Kubernetes roles.
    pub groups: Vec<String>,
}

/// The headers in which a proxy names a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserHeaders {
    /// The header with the user name.
    pub user: HeaderName,
    /// The header with the group names, separated by commas.
    pub groups: Option<HeaderName>,
}

/// The reason why a login is rejected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoginError {
    #[error(
        "This request did not come from the authenticating proxy: its address is not one of \
            --trusted-proxy, or \
         the header {SECRET_HEADER} does not contain the secret of --proxy-secret-file. Open the \
         address of the proxy."
    )]
    Untrusted,
    #[error("The proxy names no user: the header {0} is missing. Log in at the proxy.")]
    Missing(HeaderName),
    #[error(
        "The header {0} occurs more than once. The proxy must remove this header from requests \
            of browsers."
    )]
    Doubled(HeaderName),
    #[error(
        "The header {0} contains an invalid name: it is empty, longer than {MAX_NAME} bytes, not \
            UTF-8, or has invisible characters; or there are more than {MAX_GROUPS} names."
    )]
    Unreadable(HeaderName),
    #[error(
        "The header {0} names a user or group that begins with {RESERVED}, which Kubernetes \
            reserves. The dashboard does not impersonate these."
    )]
    Reserved(HeaderName),
    /// The system has no random numbers, or the client cannot be created.
    #[error("Nobody can log in now: {0}")]
    System(String),
}

impl UserHeaders {
    /// Reads and checks the names in these headers.
    pub(crate) fn user(&self, headers: &HeaderMap) -> Result<User, LoginError> {
        let name =
            one(headers, &self.user)?.ok_or_else(|| LoginError::Missing(self.user.clone()))?;
        let name = checked(name, &self.user)?;
        let mut groups = Vec::new();
        if let Some(header) = &self.groups {
            let listed = one(headers, header)?.unwrap_or_default();
            let listed = listed
                .split(',')
                .map(str::trim)
                .filter(|group| !group.is_empty());
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

/// The text of a header that must not occur twice: a proxy might append its own to the one of an attacker.
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

/// The maximum number of sessions. If there are more, the least recently used is forgotten.
const MAX_USERS: usize = 256;

/// The sessions of the users whom trusted proxies name.
pub struct Users {
    headers: UserHeaders,
    proxy: TrustedProxy,
    /// A client that can impersonate the users.
    client: Client,
    /// The most recently used session is last.
    known: Mutex<VecDeque<Arc<Session>>>,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users")
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

impl Users {
    /// Trusts these headers from this proxy. The client needs permission to impersonate the users.
    pub fn new(headers: UserHeaders, proxy: TrustedProxy, client: Client) -> Self {
        Self {
            headers,
            proxy,
            client,
            known: Mutex::default(),
        }
    }

    /// The session of the user who sent a request.
    ///
    /// # Errors
    ///
    /// The request does not come from a trusted proxy, or does not name a valid user.
    pub(crate) fn session(&self, head: &Parts) -> Result<Arc<Session>, LoginError> {
        let peer = head.extensions.get::<SocketAddr>().map(SocketAddr::ip);
        if !peer.is_some_and(|peer| self.proxy.has_sent(peer, &head.headers)) {
            return Err(LoginError::Untrusted);
        }
        let user = self.headers.user(&head.headers)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|session| session.user == user);
        let session = match at.and_then(|at| known.remove(at)) {
            Some(session) => session,
            None => {
                let client = acting_as(&self.client, &user.name, &user.groups)
                    .map_err(|error| LoginError::System(error.to_string()))?;
                let session = Session::new(user, client);
                Arc::new(session.map_err(|error| LoginError::System(error.to_string()))?)
            }
        };
        if known.len() == MAX_USERS {
            known.pop_front();
        }
        known.push_back(Arc::clone(&session));
        Ok(session)
    }
}

/// The maximum number of requests of a user that are served or wait.
const MAX_REQUESTS: usize = 8;
/// The maximum number of actions of a user that are carried out or wait. There are slots for twice as many.
const MAX_ACTIONS: usize = 2;
/// The maximum number of previews of a user that are made or wait, although the browser might have disconnected.
const MAX_PREVIEWS: usize = 2;

/// The state that is kept for a user between requests.
pub(crate) struct Session {
    pub(crate) user: User,
    /// Acts with the user's permissions.
    pub(crate) client: Client,
    /// The CSRF token of the user's forms.
    pub(crate) token: Arc<Token>,
    readable: KnownPermissions,
    pub(crate) patchable: Arc<KnownPermissions>,
    requests: Semaphore,
    turn: Semaphore,
    /// Has a permit for each further action that the user can confirm.
    pub(crate) actions: Arc<Semaphore>,
    /// Has a permit for each further preview that the user can request.
    pub(crate) previews: Arc<Semaphore>,
}

/// The permission to serve one request of a user.
pub(crate) type RequestTurn<'s> = (SemaphorePermit<'s>, SemaphorePermit<'s>);

impl Session {
    pub(crate) fn new(user: User, client: Client) -> io::Result<Self> {
        Ok(Self {
            user,
            client,
            token: Arc::new(Token::random()?),
            readable: KnownPermissions::default(),
            patchable: Arc::default(),
            requests: Semaphore::new(MAX_REQUESTS),
            turn: Semaphore::new(1),
            actions: Arc::new(Semaphore::new(MAX_ACTIONS)),
            previews: Arc::new(Semaphore::new(MAX_PREVIEWS)),
        })
    }

    /// Waits until the earlier requests of the user are served, so that a user with many requests does not delay
    /// the pages of others. `None` if too many requests wait.
    pub(crate) async fn turn(&self) -> Option<RequestTurn<'_>> {
        let request = self.requests.try_acquire().ok()?;
        Some((request, self.turn.acquire().await.ok()?))
    }

    /// The workloads of these kinds that the user may list, at most a minute old.
    ///
    /// # Errors
    ///
    /// The API server does not answer.
    pub(crate) async fn readable(
        &self,
        view: &View,
        kinds: &[Kind],
    ) -> Result<Arc<Permissions>, FindError> {
        let places = places(view.rows.iter().map(|row| &row.status.object));
        let ask = Permissions::ask(&self.client, Verb::List, kinds, places);
        self.readable.get(view.is_complete, ask).await
    }
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
    fn user_and_groups_are_read_from_headers() {
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
    fn missing_duplicate_reserved_and_unreadable_names_are_rejected() {
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
