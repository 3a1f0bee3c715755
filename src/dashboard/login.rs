//! Users whom an authenticating proxy names in headers. Each sees and does what the API server allows them.

use std::{
    collections::{HashSet, VecDeque},
    fmt, io,
    net::{IpAddr, SocketAddr},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dayshift_cluster::{
    connect::acting_as,
    read::{FindError, may_list},
};
use dayshift_text::is_unprintable;
use dayshift_workload::{Kind, WorkloadRef};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::{HeaderMap, HeaderName, request::Parts};
use ipnet::IpNet;
use kube::Client;
use tokio::{
    sync::Mutex as AsyncMutex,
    time::{Instant, timeout},
};

use crate::dashboard::{access::Token, view::View};

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

/// One address, or all with the same beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

/// Why a text is no network.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// It is neither an address nor one with a length.
    #[error("write an IP address or a network, such as 127.0.0.1, 10.0.0.0/8 or fd00::/8")]
    Unreadable,
    /// It holds every address there is.
    #[error("this trusts every address; name those of the proxy, such as 10.0.0.0/8")]
    Everything,
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let address = text.parse::<IpAddr>().map(IpNet::from);
        let network = address.or_else(|_| text.parse::<IpNet>());
        let network = network.map_err(|_| NetworkError::Unreadable)?;
        if network.prefix_len() == 0 {
            return Err(NetworkError::Everything);
        }
        Ok(Self(network))
    }
}

impl Network {
    /// Whether it holds this address. An IPv4 address that a socket of IPv6 shows
    /// (`::ffff:10.0.0.7`) is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// At most this many users are known at once; whoever has not asked for longest is forgotten.
const MAX_USERS: usize = 256;

/// The users that trusted proxies name.
pub struct Users {
    headers: UserHeaders,
    proxies: Vec<Network>,
    /// May impersonate them.
    client: Client,
    /// Whoever asked last stands last.
    known: Mutex<VecDeque<Arc<Session>>>,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users")
            .field("headers", &self.headers)
            .field("proxies", &self.proxies)
            .finish_non_exhaustive()
    }
}

impl Users {
    /// Those whom requests from these addresses name in these headers. The client needs the right
    /// to impersonate them.
    pub fn new(headers: UserHeaders, proxies: Vec<Network>, client: Client) -> Self {
        Self {
            headers,
            proxies,
            client,
            known: Mutex::default(),
        }
    }

    /// The user of a request.
    ///
    /// # Errors
    /// Where it is nobody's, and why.
    pub(crate) fn session(&self, head: &Parts) -> Result<Arc<Session>, LoginError> {
        let peer = head.extensions.get::<SocketAddr>().map(SocketAddr::ip);
        let is_trusted = |peer| self.proxies.iter().any(|proxy| proxy.contains(peer));
        if !peer.is_some_and(is_trusted) {
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

/// How long the API server's answers about what a user may read count. (It keeps those of a webhook
/// for five minutes itself.)
const KEPT: Duration = Duration::from_secs(60);

/// A user, and what is known of them.
pub(crate) struct Session {
    pub(crate) user: User,
    /// Acts as them.
    pub(crate) client: Client,
    /// What their forms carry: nobody else knows it.
    pub(crate) token: Arc<Token>,
    readable: AsyncMutex<Option<(Instant, Arc<Readable>)>>,
}

impl Session {
    pub(crate) fn new(user: User, client: Client) -> io::Result<Self> {
        Ok(Self {
            user,
            client,
            token: Arc::new(Token::random()?),
            readable: AsyncMutex::default(),
        })
    }

    /// What of these kinds in a view they may list, as of the last minute.
    ///
    /// # Errors
    /// Where the API server does not say.
    pub(crate) async fn readable(
        &self,
        view: &View,
        kinds: &[Kind],
    ) -> Result<Arc<Readable>, FindError> {
        let mut known = self.readable.lock().await;
        let now = Instant::now();
        if let Some((asked, readable)) = &*known
            && now - *asked < KEPT
        {
            return Ok(Arc::clone(readable));
        }
        let objects = view.rows.iter().map(|row| &row.status.object);
        let readable = Arc::new(Readable::ask(&self.client, kinds, objects).await?);
        // Before all workloads are known, not all has been asked.
        *known = view.is_complete.then(|| (now, Arc::clone(&readable)));
        Ok(readable)
    }
}

/// How many questions of one user are asked at once.
const AT_ONCE: usize = 8;
/// How long all of them may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The workloads that a user may list.
#[derive(Debug, Default)]
pub(crate) struct Readable {
    /// Kinds that they may list in all namespaces.
    everywhere: HashSet<Kind>,
    /// Other kinds, and where.
    in_namespaces: HashSet<(Kind, Arc<str>)>,
    /// Whether they may list every kind everywhere.
    pub(crate) is_all: bool,
}

impl Readable {
    /// Asks the API server, as the client's user: of each kind once, and of each namespace of these
    /// objects where that is not enough.
    pub(crate) async fn ask<'a>(
        client: &Client,
        kinds: &[Kind],
        objects: impl Iterator<Item = &'a WorkloadRef>,
    ) -> Result<Self, FindError> {
        let asking = async {
            let everywhere = allowed(kinds.to_vec(), |kind| may_list(client, *kind, None));
            let everywhere: HashSet<Kind> = everywhere.await?.into_iter().collect();
            let others: HashSet<(Kind, Arc<str>)> = objects
                .filter(|object| !everywhere.contains(&object.kind))
                .map(|object| (object.kind, Arc::clone(&object.namespace)))
                .collect();
            let in_namespaces = allowed(others.into_iter().collect(), |(kind, namespace)| {
                let (kind, namespace) = (*kind, Arc::clone(namespace));
                async move { may_list(client, kind, Some(&namespace)).await }
            });
            Ok(Self {
                is_all: kinds.iter().all(|kind| everywhere.contains(kind)),
                in_namespaces: in_namespaces.await?.into_iter().collect(),
                everywhere,
            })
        };
        timeout(PATIENCE, asking).await.unwrap_or_else(|_| {
            let reason = "the API server does not answer in time".to_owned();
            Err(FindError::Unavailable(reason))
        })
    }

    /// Whether they may read this one.
    pub(crate) fn includes(&self, object: &WorkloadRef) -> bool {
        let place = || (object.kind, Arc::clone(&object.namespace));
        self.everywhere.contains(&object.kind) || self.in_namespaces.contains(&place())
    }
}

/// Those that the server allows.
async fn allowed<T, F>(all: Vec<T>, ask: impl Fn(&T) -> F) -> Result<Vec<T>, FindError>
where
    F: Future<Output = Result<bool, FindError>>,
{
    let asked = all.into_iter().map(|item| {
        let answer = ask(&item);
        async move { Ok::<_, FindError>(answer.await?.then_some(item)) }
    });
    let answers = stream::iter(asked).buffer_unordered(AT_ONCE);
    answers
        .try_filter_map(async |item| Ok(item))
        .try_collect()
        .await
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

    #[test]
    fn a_network_holds_the_addresses_with_its_beginning() {
        for (network, address, expected) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.0.0.1", "::1", false),
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.3/8", "10.9.9.9", true),
            ("10.0.0.4/30", "10.0.0.7", true),
            ("10.0.0.4/30", "10.0.0.8", false),
            ("10.0.0.4/32", "10.0.0.4", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::1", "::1", true),
            ("::1", "127.0.0.1", false),
            ("::1/128", "::2", false),
        ] {
            let network: Network = network.parse().unwrap();
            let found = network.contains(address.parse().unwrap());
            assert_eq!(found, expected, "{network:?} {address}");
        }
    }

    #[test]
    fn texts_that_are_not_networks_or_trust_everyone_are_refused() {
        for text in [
            "",
            "proxy",
            "10.0.0",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0.1:80",
            " 10.0.0.1",
            "10.0.0.0/8/8",
        ] {
            let found = text.parse::<Network>();
            assert_eq!(found, Err(NetworkError::Unreadable), "{text:?}");
        }
        for text in ["0.0.0.0/0", "::/0", "10.0.0.0/00"] {
            let found = text.parse::<Network>();
            assert_eq!(found, Err(NetworkError::Everything), "{text:?}");
        }
    }
}
