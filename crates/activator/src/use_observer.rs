//! Recognizes use in the bytes of a forwarded connection: each time the client sends after the server, its
//! first bytes are a request, or data of another protocol.

use std::mem;

use crate::{
    http::{FirstBytes, Head, MAX_HEAD, can_end_head},
    memory_budget::HeadBuffer,
};

/// The bytes of a client since the server last sent something.
pub(crate) struct UseObserver<'c> {
    begin: Begin,
    /// A new buffer for a request head.
    buffer: Box<dyn Fn() -> HeadBuffer + Send + 'c>,
    /// Whether use has an effect now.
    is_observed: Box<dyn Fn() -> bool + Send + 'c>,
    /// Called with the request head, or `None` if the client does not use HTTP.
    on_use: Box<dyn Fn(Option<Head>) + Send + 'c>,
}

enum Begin {
    /// The next bytes of the client begin a request.
    Awaited,
    /// These bytes do not show yet which request it is.
    Read(HeadBuffer),
    /// It is known.
    Known,
}

impl<'c> UseObserver<'c> {
    /// For a client whose first bytes, if there are any, are known already.
    pub(crate) fn new(
        has_sent: bool,
        buffer: impl Fn() -> HeadBuffer + Send + 'c,
        is_observed: impl Fn() -> bool + Send + 'c,
        on_use: impl Fn(Option<Head>) + Send + 'c,
    ) -> Self {
        Self {
            begin: if has_sent {
                Begin::Known
            } else {
                Begin::Awaited
            },
            buffer: Box::new(buffer),
            is_observed: Box::new(is_observed),
            on_use: Box::new(on_use),
        }
    }

    /// The server sent something.
    pub(crate) fn answered(&mut self) {
        self.begin = Begin::Awaited;
    }

    /// The client sent these bytes.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut head = match mem::replace(&mut self.begin, Begin::Known) {
            Begin::Known => return,
            Begin::Awaited if !(self.is_observed)() => return,
            Begin::Awaited => (self.buffer)(),
            Begin::Read(head) => head,
        };
        let before = head.len();
        let bytes = &bytes[..bytes.len().min(MAX_HEAD - before)];
        // A head for which there is no memory is use, as one that is too long.
        if !head.reserve(bytes.len()) {
            return (self.on_use)(None);
        }
        head.push(bytes);
        let first = match can_end_head(&head, before) {
            true => FirstBytes::parse(&head),
            false => FirstBytes::Incomplete,
        };
        match first {
            FirstBytes::Incomplete => self.begin = Begin::Read(head),
            FirstBytes::Other => (self.on_use)(None),
            FirstBytes::Request(head) => (self.on_use)(Some(head)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;
    use crate::memory_budget::HeadMemory;

    fn buffer() -> HeadBuffer {
        HeadMemory::default().buffer(&"dev".into())
    }

    /// The paths of the observed requests, or `-` for other protocols.
    fn paths(uses: &Mutex<Vec<Option<Head>>>) -> Vec<String> {
        let uses = uses.lock().unwrap();
        let paths = uses.iter().map(|head| match head {
            Some(head) => head.path.clone(),
            None => "-".to_owned(),
        });
        paths.collect()
    }

    #[test]
    fn each_request_of_a_connection_is_observed_once() {
        let (uses, is_observed) = (Mutex::new(Vec::new()), AtomicBool::new(true));
        let mut observer = UseObserver::new(
            false,
            buffer,
            || is_observed.load(Ordering::Relaxed),
            |head| uses.lock().unwrap().push(head),
        );
        observer.sent(b"");
        assert!(paths(&uses).is_empty(), "the client sent nothing");
        for byte in b"POST /a HTTP/1.1\r\nHost: a\r\n\r\n" {
            observer.sent(&[*byte]);
        }
        observer.sent(b"body");
        observer.answered();
        observer.sent(b"GET /b HTTP/1.1\r\n\r\n");
        is_observed.store(false, Ordering::Relaxed);
        observer.answered();
        observer.sent(b"GET /c HTTP/1.1\r\n\r\n");
        is_observed.store(true, Ordering::Relaxed);
        observer.sent(b"the end of its body");
        observer.answered();
        observer.sent(b"\x17\x03\x03");
        assert_eq!(paths(&uses), ["/a", "/b", "-"]);
    }

    #[test]
    fn request_whose_head_was_read_before_is_not_observed_again() {
        let uses = Mutex::new(Vec::new());
        let mut observer = UseObserver::new(
            true,
            buffer,
            || true,
            |head| {
                uses.lock().unwrap().push(head);
            },
        );
        observer.sent(b"body");
        assert!(paths(&uses).is_empty());
        observer.answered();
        observer.sent(b"GET /b HTTP/1.1\r\n\r\n");
        assert_eq!(paths(&uses), ["/b"]);
    }

    #[test]
    fn endless_head_is_observed_as_another_protocol() {
        let uses = Mutex::new(Vec::new());
        let mut observer = UseObserver::new(
            false,
            buffer,
            || true,
            |head| {
                uses.lock().unwrap().push(head);
            },
        );
        observer.sent(b"GET /");
        for _ in 0..20 {
            observer.sent(&[b'x'; 1024]);
        }
        assert_eq!(paths(&uses), ["-"]);
    }

    #[test]
    fn unfinished_heads_beyond_the_memory_are_observed_as_another_protocol() {
        let (uses, memory) = (Mutex::new(Vec::new()), HeadMemory::default());
        let mut observers: Vec<_> = (0..5_000)
            .map(|_| {
                let buffer = || memory.buffer(&"dev".into());
                UseObserver::new(
                    false,
                    buffer,
                    || true,
                    |head| uses.lock().unwrap().push(head),
                )
            })
            .collect();
        for observer in &mut observers {
            observer.sent(b"GET / HTTP/1.1\r\nCookie: ");
            observer.sent(&[b'x'; 8_000]);
        }
        let kept = observers
            .iter()
            .filter(|observer| matches!(observer.begin, Begin::Read(_)));
        assert_eq!(kept.count() + uses.lock().unwrap().len(), 5_000);
        assert!(uses.lock().unwrap().len() > 3_000);
    }
}
