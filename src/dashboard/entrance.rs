//! Authentication: who may see the pages, and whose permissions an action uses.

use std::{io, net::SocketAddr, sync::Arc};

use http::{HeaderValue, StatusCode, request::Parts};
use kube::Client;

use super::{
    access::{Access, Browser, BrowserAccess},
    login::{LoginError, Session, User, Users},
    permissions::KnownPermissions,
};
use crate::dashboard::access::Token;

const NO_KEY: &str = "Open the address that was printed in your terminal, with the key at its end: \
                      `http://127.0.0.1:…/?key=…`. Each start has a new key. If you have \
                      just opened that address, continue to the overview.";

/// The ways to authenticate.
pub(super) enum Entrance {
    /// Everyone can read, and no one can act.
    Open,
    /// A browser with the key reads and acts with the permissions of this client.
    Key(Box<Keyed>),
    /// An authenticating proxy names the users, each of whom has their own permissions.
    Users(Box<Users>),
}

pub(super) struct Keyed {
    access: Access,
    /// The CSRF token of all forms of this start.
    token: Arc<Token>,
    client: Client,
    patchable: Arc<KnownPermissions>,
}

/// A user or browser that can act.
pub(crate) struct Visitor {
    /// Only the visitor who made a preview can confirm it.
    pub(super) identity: Identity,
    /// The CSRF token of the visitor's forms.
    pub(super) token: Arc<Token>,
    /// Acts with the visitor's permissions.
    pub(super) client: Client,
    /// The workloads that the visitor may change.
    pub(super) patchable: Arc<KnownPermissions>,
    /// The session of a user who sees only the workloads that they may list.
    pub(super) session: Option<Arc<Session>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Browser(Browser),
    User(User),
}

/// The result of authenticating a request.
pub(super) enum Entered {
    /// No authentication is required.
    Anybody,
    As(Visitor),
    /// Redirect to the same address without the key, and set this cookie.
    Led {
        to: String,
        cookie: HeaderValue,
    },
    FormRefusal(StatusCode, String),
}

impl Keyed {
    /// Creates a new key for the pages on this port.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(super) fn at(port: u16, client: Client) -> io::Result<Self> {
        Ok(Self {
            access: Access::at(port)?,
            token: Arc::new(Token::random()?),
            client,
            patchable: Arc::default(),
        })
    }
}

impl Entrance {
    /// The address to open, with the key if one is required.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        match self {
            Self::Key(keyed) => keyed.access.url(address),
            Self::Open | Self::Users(_) => format!("http://{address}/"),
        }
    }

    /// An address for a browser that is started with it: a key in it works once, because the arguments of
    /// programs can be seen by other users.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(super) fn url_once(&self, address: SocketAddr) -> io::Result<String> {
        match self {
            Self::Key(keyed) => keyed.access.url_once(address),
            Self::Open | Self::Users(_) => Ok(self.url(address)),
        }
    }

    /// Authenticates a request.
    pub(super) fn enter(&self, head: &Parts) -> Entered {
        match self {
            Self::Open => Entered::Anybody,
            Self::Key(keyed) => match keyed.access.entry(head) {
                Ok(BrowserAccess::Known(browser)) => Entered::As(Visitor {
                    identity: Identity::Browser(browser),
                    token: Arc::clone(&keyed.token),
                    client: keyed.client.clone(),
                    patchable: Arc::clone(&keyed.patchable),
                    session: None,
                }),
                Ok(BrowserAccess::Led { to, cookie }) => Entered::Led { to, cookie },
                Ok(BrowserAccess::Unknown) => {
                    Entered::FormRefusal(StatusCode::FORBIDDEN, NO_KEY.to_owned())
                }
                Err(error) => {
                    let message = format!("The system provides no random numbers: {error}");
                    Entered::FormRefusal(StatusCode::INTERNAL_SERVER_ERROR, message)
                }
            },
            Self::Users(users) => match users.session(head) {
                Ok(session) => Entered::As(Visitor {
                    identity: Identity::User(session.user.clone()),
                    token: Arc::clone(&session.token),
                    client: session.client.clone(),
                    patchable: Arc::clone(&session.patchable),
                    session: Some(session),
                }),
                Err(error) => {
                    let status = match error {
                        LoginError::System(_) => StatusCode::INTERNAL_SERVER_ERROR,
                        _ => StatusCode::FORBIDDEN,
                    };
                    Entered::FormRefusal(status, error.to_string())
                }
            },
        }
    }
}

impl Visitor {
    /// The name of a user who logged in through the proxy.
    pub(super) fn user_name(&self) -> Option<&str> {
        match &self.identity {
            Identity::Browser(_) => None,
            Identity::User(user) => Some(&user.name),
        }
    }
}
