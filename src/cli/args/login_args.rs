//! The flags that let users of an authenticating proxy into the pages of `dayshift run`.

use http::HeaderName;

use crate::dashboard::{Network, UserHeaders};

#[derive(Debug, clap::Args)]
pub(crate) struct LoginArgs {
    /// Show the pages to the users that an authenticating proxy names in this header, such as
    /// X-Forwarded-User. Each sees and does what the API server allows them; dayshift needs the
    /// right to impersonate them
    #[arg(
        long,
        value_name = "HEADER",
        requires_all = ["dashboard_listen", "trusted_proxy"],
        conflicts_with = "user"
    )]
    user_header: Option<HeaderName>,

    /// The header in which the proxy lists the groups of a user, separated by commas, such as
    /// X-Forwarded-Groups
    #[arg(long, value_name = "HEADER", requires = "user_header")]
    group_header: Option<HeaderName>,

    /// The address of the proxy, or a network such as 10.0.0.0/8; repeatable, or a list with commas.
    /// All other requests are refused
    #[arg(
        long,
        value_name = "ADDRESS",
        value_delimiter = ',',
        requires = "user_header"
    )]
    trusted_proxy: Vec<Network>,
}

/// Whose requests come through a proxy, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    pub(crate) headers: UserHeaders,
    pub(crate) proxies: Vec<Network>,
}

impl LoginArgs {
    /// What they mean; `None` where nobody logs in.
    pub(super) fn login(self) -> Option<Login> {
        Some(Login {
            headers: UserHeaders {
                user: self.user_header?,
                groups: self.group_header,
            },
            proxies: self.trusted_proxy,
        })
    }
}
