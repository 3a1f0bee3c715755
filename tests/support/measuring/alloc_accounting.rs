//! Measures allocations and CPU time of this process, without those of an API server in the same process.

use kube_in_memory::Api;
use std::{
    cell::Cell,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use kube::{Client, client::Body};
use rustix::time::{ClockId, clock_gettime};
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats};
use tower::{BoxError, Service as _, service_fn};

/// The totals of one thread since the start of the process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) allocations: i64,
    pub(crate) bytes: i64,
    /// The bytes that are allocated now.
    pub(crate) held: i64,
    /// The CPU time of excluded work.
    pub(crate) time: Duration,
}

thread_local! {
    static UNCOUNTED: Cell<Totals> = const {
        Cell::new(Totals { allocations: 0, bytes: 0, held: 0, time: Duration::ZERO })
    };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

impl Totals {
    /// The totals of measured work.
    pub(crate) fn here() -> Self {
        let (all, other) = (Self::of(&INSTRUMENTED_SYSTEM.stats()), UNCOUNTED.get());
        Self {
            allocations: all.allocations - other.allocations,
            bytes: all.bytes - other.bytes,
            held: all.held - other.held,
            time: other.time,
        }
    }

    fn of(stats: &Stats) -> Self {
        let number = |count: usize| i64::try_from(count).unwrap();
        Self {
            allocations: number(stats.allocations + stats.reallocations),
            bytes: number(stats.bytes_allocated),
            held: number(stats.bytes_allocated) - number(stats.bytes_deallocated),
            time: Duration::ZERO,
        }
    }
}

/// The maximum of the allocated bytes since the last call, as measured whenever excluded work begins.
pub(crate) fn take_peak() -> i64 {
    PEAK.replace(i64::MIN)
}

/// The CPU time of this thread.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap(),
        time.tv_nsec.try_into().unwrap(),
    )
}

/// Runs work that is excluded from the measurement.
pub(crate) fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let (begun, before) = (cpu(), Totals::of(&INSTRUMENTED_SYSTEM.stats()));
    let sum = UNCOUNTED.get();
    PEAK.set(PEAK.get().max(before.held - sum.held));
    let result = work();
    let after = Totals::of(&INSTRUMENTED_SYSTEM.stats());
    UNCOUNTED.set(Totals {
        allocations: sum.allocations + after.allocations - before.allocations,
        bytes: sum.bytes + after.bytes - before.bytes,
        held: sum.held + after.held - before.held,
        time: sum.time + cpu() - begun,
    });
    result
}

/// A client of this API, whose work is excluded.
pub(crate) fn client(api: &Api) -> Client {
    let connection = api.connection("dayshift");
    let service = service_fn(move |request: Request<Body>| {
        let mut connection = connection.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            // Memory that is sent is counted as excluded from then on.
            let answer = uncounted(|| {
                let body = Body::from(body.to_vec());
                let request = Request::from_parts(head.clone(), body);
                Uncounted(Some(connection.call(request).boxed()))
            });
            drop((head, body));
            let (head, body) = answer.await?.into_parts();
            let here = head.clone();
            uncounted(move || drop(head));
            Ok::<_, BoxError>(Response::from_parts(here, UncountedBody::new(body)))
        }
    });
    Client::new(service, "default")
}

/// Memory that is received is counted as measured from then on.
fn from_the_wire(bytes: Bytes) -> Bytes {
    let here = Bytes::copy_from_slice(&bytes);
    uncounted(move || drop(bytes));
    here
}

struct Uncounted<T>(Option<BoxFuture<'static, T>>);

impl<T> Future for Uncounted<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let answer = self.0.as_mut().unwrap();
        let polled = uncounted(|| answer.as_mut().poll(context));
        if polled.is_ready() {
            uncounted(|| self.0 = None);
        }
        polled
    }
}

type Inner = UnsyncBoxBody<Bytes, Infallible>;

/// A body in chunks of the size of TLS records.
struct UncountedBody {
    body: Option<Inner>,
    rest: Bytes,
}

const PIECE: usize = 16 * 1024;

impl UncountedBody {
    fn new(body: Inner) -> Self {
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

impl HttpBody for UncountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            let body = self.body.as_mut().unwrap();
            match uncounted(|| Pin::new(body).poll_frame(context)) {
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

impl Drop for UncountedBody {
    fn drop(&mut self) {
        uncounted(|| {
            self.body = None;
            self.rest = Bytes::new();
        });
    }
}
