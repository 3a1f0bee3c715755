//! Users that an authenticating proxy names: each sees and does what the API server allows them.

mod network;
mod readable;
mod session;
mod user;
mod users;

pub use network::{Network, NetworkError};
pub use user::{User, UserHeaders};
pub use users::Users;

pub(super) use session::Session;
pub(super) use user::LoginError;
