//! What time it is for the API server.

use chrono::{DateTime, Utc};
use http::Request;
use kube::{Client, client::Body};

use crate::cluster::connection::instrument::date;

/// The time on the API server's clock, to a second, from the `Date` header of an answer that
/// everybody gets (`/version`); `None` where no answer comes.
pub async fn server_time(client: &Client) -> Option<DateTime<Utc>> {
    let request = Request::get("/version").body(Body::empty()).ok()?;
    date(&client.send(request).await.ok()?)
}
