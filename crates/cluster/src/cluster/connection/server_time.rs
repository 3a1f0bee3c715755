//! The API server's time.

use chrono::{DateTime, Utc};
use http::Request;
use kube::{Client, client::Body};

use crate::cluster::connection::instrument::date;

/// The time of the API server's clock, to a second, from the `Date` header of an answer that
/// everybody gets (`/version`); `None` without an answer.
pub async fn server_time(client: &Client) -> Option<DateTime<Utc>> {
    let request = Request::get("/version").body(Body::empty()).ok()?;
    date(&client.send(request).await.ok()?)
}
