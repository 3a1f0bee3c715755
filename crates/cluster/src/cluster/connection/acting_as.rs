//! A client that acts as somebody else, by impersonation.

use http::{HeaderMap, HeaderName, HeaderValue, Request, header::InvalidHeaderValue};
use kube::{Client, client::Body};
use tower::service_fn;

/// <https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/>
const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// The same client with the rights of this user in these groups. The API server adds
/// `system:authenticated` to them by itself. It lets the client do so only with the right to
/// impersonate each of them.
///
/// # Errors
/// Where a name cannot stand in a header.
pub fn acting_as(
    client: &Client,
    user: &str,
    groups: &[String],
) -> Result<Client, InvalidHeaderValue> {
    let mut named = HeaderMap::new();
    named.insert(USER, HeaderValue::from_bytes(user.as_bytes())?);
    for group in groups {
        named.append(GROUP, HeaderValue::from_bytes(group.as_bytes())?);
    }
    let namespace = client.default_namespace().to_owned();
    let client = client.clone();
    let service = service_fn(move |mut request: Request<Body>| {
        let client = client.clone();
        // A header that is there already would be another user.
        request.headers_mut().extend(named.clone());
        async move { client.send(request).await }
    });
    Ok(Client::new(service, namespace))
}
