//! Who comes in through a proxy.

use std::{
    collections::VecDeque,
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use dayshift_cluster::connect::acting_as;
use http::request::Parts;
use kube::Client;

use super::{
    network::Network,
    session::Session,
    user::{LoginError, UserHeaders},
};

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
    pub(crate) fn of(&self, head: &Parts) -> Result<Arc<Session>, LoginError> {
        let peer = head.extensions.get::<SocketAddr>().map(SocketAddr::ip);
        let is_trusted = |peer| self.proxies.iter().any(|it| it.contains(peer));
        if !peer.is_some_and(is_trusted) {
            return Err(LoginError::Untrusted);
        }
        let user = self.headers.user(&head.headers)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|it| it.user == user);
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
