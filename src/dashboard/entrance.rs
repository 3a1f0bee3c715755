//! Who may see the pages, and as whom they act.

use std::{io, net::SocketAddr, sync::Arc};

use http::{HeaderValue, StatusCode, request::Parts};
use kube::Client;

use super::{
    access::{Access, Browser, BrowserAccess},
    login::{LoginError, Session, User, Users},
};
use crate::dashboard::access::Token;

/// What is said to a browser that has no key.
const NO_KEY: &str = "Open the address that was printed in your terminal, with the key at its end: \
                      dashboard: http://127.0.0.1:…/?key=… Each start has a new key. If you have \
                      just opened that address, go on to the overview.";

/// Who may see the pages.
pub(super) enum Entrance {
    /// Everybody may look, and nobody may act.
    Open,
    /// Who has the key looks and acts as this client.
    Key(Box<Keyed>),
    /// The users that a proxy names, each with their own rights.
    Users(Box<Users>),
}

/// The key, and what is done with it.
pub(super) struct Keyed {
    access: Access,
    /// What every form of this start carries, and nobody else knows.
    token: Arc<Token>,
    client: Client,
}

/// Somebody who sees the pages as somebody in particular.
pub(crate) struct Visitor {
    /// Whoever makes a preview alone may confirm it.
    pub(super) identity: Identity,
    /// What their forms carry.
    pub(super) token: Arc<Token>,
    /// Acts with their rights.
    pub(super) client: Client,
    /// What is known of a user who sees no more than they may.
    pub(super) session: Option<Arc<Session>>,
}

/// Who somebody is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Browser(Browser),
    User(User),
}

/// How a request comes in.
pub(super) enum Entered {
    /// As nobody in particular.
    Anybody,
    As(Visitor),
    /// Led to the same address without the key, with this cookie.
    Led {
        to: String,
        cookie: HeaderValue,
    },
    FormRefusal(StatusCode, String),
}

impl Keyed {
    /// A new key for the pages at this port.
    ///
    /// # Errors
    /// Where the system gives nothing random.
    pub(super) fn at(port: u16, client: Client) -> io::Result<Self> {
        Ok(Self {
            access: Access::at(port)?,
            token: Arc::new(Token::random()?),
            client,
        })
    }
}

impl Entrance {
    /// What is to be opened where it listens here.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        match self {
            Self::Key(keyed) => keyed.access.url(address),
            Self::Open | Self::Users(_) => format!("http://{address}/"),
        }
    }

    /// How a request comes in.
    pub(super) fn enter(&self, head: &Parts) -> Entered {
        match self {
            Self::Open => Entered::Anybody,
            Self::Key(keyed) => match keyed.access.entry(head) {
                Ok(BrowserAccess::Known(browser)) => Entered::As(Visitor {
                    identity: Identity::Browser(browser),
                    token: Arc::clone(&keyed.token),
                    client: keyed.client.clone(),
                    session: None,
                }),
                Ok(BrowserAccess::Led { to, cookie }) => Entered::Led { to, cookie },
                Ok(BrowserAccess::Unknown) => {
                    Entered::FormRefusal(StatusCode::FORBIDDEN, NO_KEY.to_owned())
                }
                Err(error) => {
                    let message = format!("The system gives no random numbers: {error}");
                    Entered::FormRefusal(StatusCode::INTERNAL_SERVER_ERROR, message)
                }
            },
            Self::Users(users) => match users.session(head) {
                Ok(session) => Entered::As(Visitor {
                    identity: Identity::User(session.user.clone()),
                    token: Arc::clone(&session.token),
                    client: session.client.clone(),
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
    /// The name of a user who has logged in.
    pub(super) fn user_name(&self) -> Option<&str> {
        match &self.identity {
            Identity::Browser(_) => None,
            Identity::User(user) => Some(&user.name),
        }
    }
}
