//! A client whose API server is not counted: what it does, another machine would do.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use kube::{Client, client::Body};
use tower::{BoxError, service_fn};

use super::measure::elsewhere;

/// The same client, everything behind it left out of the count.
pub(crate) fn uncounted(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = over_the_wire(body.collect_bytes().await?);
            let request = Request::from_parts(head, Body::from(body));
            let answer: BoxFuture<'static, _> = elsewhere(|| -> BoxFuture<'static, _> {
                Box::pin(async move { client.send(request).await })
            });
            let response: Response<Body> = Elsewhere(Some(answer)).await.map_err(BoxError::from)?;
            Ok::<_, BoxError>(response.map(ElsewhereBody::new))
        }
    });
    Client::new(service, namespace)
}

/// What is sent is gone here and there elsewhere.
fn over_the_wire(bytes: Bytes) -> Vec<u8> {
    elsewhere(|| bytes.to_vec())
}

/// What is received is gone elsewhere and there here.
fn from_the_wire(bytes: Bytes) -> Bytes {
    let here = Bytes::copy_from_slice(&bytes);
    elsewhere(|| drop(bytes));
    here
}

struct Elsewhere<T>(Option<BoxFuture<'static, T>>);

impl<T> Future for Elsewhere<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let answer = self.0.as_mut().unwrap();
        let polled = elsewhere(|| answer.as_mut().poll(context));
        if polled.is_ready() {
            elsewhere(|| self.0 = None);
        }
        polled
    }
}

/// A body that comes in pieces, as TLS records do.
struct ElsewhereBody {
    body: Option<Body>,
    rest: Bytes,
}

const PIECE: usize = 16 * 1024;

impl ElsewhereBody {
    fn new(body: Body) -> Self {
        Self {
            body: Some(body),
            rest: Bytes::new(),
        }
    }

    fn piece(&mut self) -> Option<Bytes> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        (!piece.is_empty()).then(|| from_the_wire(piece))
    }
}

impl HttpBody for ElsewhereBody {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            let body = self.body.as_mut().unwrap();
            match elsewhere(|| Pin::new(body).poll_frame(context)) {
                Poll::Ready(Some(Ok(frame))) => self.rest = frame.into_data().unwrap_or_default(),
                other => return other,
            }
        }
        Poll::Ready(self.piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Drop for ElsewhereBody {
    fn drop(&mut self) {
        elsewhere(|| {
            self.body = None;
            self.rest = Bytes::new();
        });
    }
}
