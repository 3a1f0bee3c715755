//! Bounds the memory of the responses that arrive at the same time: only one large response is read at a time.
//!
//! A user can write objects of more than a megabyte, several times that in JSON, and make dozens of them stop
//! simultaneously.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::{FutureExt as _, future::BoxFuture};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// The part of a response that is read at once, in bytes. Nearly all responses are smaller.
pub(crate) const SMALL: u32 = 64 << 10;

/// The permit to read a large response.
#[derive(Clone)]
pub(crate) struct LargeBodies(Arc<Semaphore>);

impl LargeBodies {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }

    /// Wraps the body of a response. After [`SMALL`] bytes, it waits until no other large one is read.
    pub(crate) fn limit<B>(&self, body: B) -> LimitedBody<B> {
        LimitedBody {
            body,
            read: 0,
            turn: Turn::Small,
            all: self.clone(),
        }
    }
}

/// A body that holds the permit from the moment at which it proves to be large until it is dropped.
pub(crate) struct LimitedBody<B> {
    body: B,
    /// The number of bytes that were read.
    read: usize,
    turn: Turn,
    all: LargeBodies,
}

enum Turn {
    Small,
    Waits(BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>),
    /// The semaphore is never closed, so there always is a permit.
    Has {
        _permit: Option<OwnedSemaphorePermit>,
    },
}

impl<B: Body<Data = Bytes> + Unpin> Body for LimitedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if matches!(this.turn, Turn::Small) && this.read >= SMALL as usize {
            let all = Arc::clone(&this.all.0);
            this.turn = Turn::Waits(all.acquire_owned().boxed());
        }
        if let Turn::Waits(permit) = &mut this.turn {
            let permit = ready!(permit.poll_unpin(context));
            this.turn = Turn::Has {
                _permit: permit.ok(),
            };
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            this.read += frame.data_ref().map_or(0, Bytes::len);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use futures::{StreamExt as _, future::join_all, stream};
    use http_body_util::{BodyExt as _, StreamBody};
    use tokio::task::yield_now;

    use super::*;

    const PIECE: usize = 16 << 10;

    /// The bytes of all pieces that exist now, and the most that existed at once.
    #[derive(Default)]
    struct Memory {
        now: AtomicUsize,
        peak: AtomicUsize,
    }

    struct Piece(Arc<Memory>);

    impl Piece {
        fn new(memory: &Arc<Memory>) -> Self {
            let now = memory.now.fetch_add(PIECE, Relaxed) + PIECE;
            memory.peak.fetch_max(now, Relaxed);
            Self(Arc::clone(memory))
        }
    }

    impl AsRef<[u8]> for Piece {
        fn as_ref(&self) -> &[u8] {
            &[0; PIECE]
        }
    }

    impl Drop for Piece {
        fn drop(&mut self) {
            self.0.now.fetch_sub(PIECE, Relaxed);
        }
    }

    /// Reads this many bodies at the same time, each of a number of pieces. Returns the peak of the memory.
    async fn read_all(bodies: usize, pieces: usize) -> usize {
        let (memory, all) = (Arc::new(Memory::default()), LargeBodies::new());
        let read = (0..bodies).map(|_| {
            let memory = Arc::clone(&memory);
            let pieces = stream::iter(0..pieces).then(move |_| {
                let memory = Arc::clone(&memory);
                async move {
                    yield_now().await;
                    Ok::<_, Infallible>(Frame::data(Bytes::from_owner(Piece::new(&memory))))
                }
            });
            let body = all.limit(StreamBody::new(pieces.boxed()));
            async move { body.collect().await.unwrap().to_bytes().len() }
        });
        let lengths = join_all(read).await;
        assert_eq!(lengths, vec![pieces * PIECE; bodies]);
        memory.peak.load(Relaxed)
    }

    #[tokio::test]
    async fn only_one_large_response_is_in_memory() {
        let (small, pieces) = (SMALL as usize, 100);
        let peak = read_all(40, pieces).await;
        assert!(peak <= 40 * small + pieces * PIECE, "{peak} bytes");
    }

    #[tokio::test]
    async fn small_responses_are_read_at_the_same_time() {
        assert!(read_all(40, 2).await >= 40 * PIECE);
    }
}
