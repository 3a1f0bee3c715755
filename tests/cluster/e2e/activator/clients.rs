//! Clients of a Service whose pods echo the data that they receive.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The timeout of a client.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first bytes of clients: curl, a WebSocket, and PostgreSQL's.
pub(crate) fn protocols() -> [Vec<u8>; 3] {
    [
        b"GET /cart?a=b HTTP/1.1\r\nHost: dev.example.com\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n".to_vec(),
        b"GET /chat HTTP/1.1\r\nHost: dev.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".to_vec(),
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f".to_vec(),
    ]
}

/// Sends `first`, and then much more in both directions: all of it is echoed.
pub(crate) fn talk(address: SocketAddr, first: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let more: Vec<u8> = (0..500_000_u32).map(|it| (it % 251) as u8).collect();
    for data in [first, &more] {
        let mut sender = stream.try_clone()?;
        let sent = data.to_vec();
        let sending = thread::spawn(move || sender.write_all(&sent));
        let mut received = vec![0; data.len()];
        stream.read_exact(&mut received)?;
        sending.join().unwrap()?;
        assert!(received == data, "the response differs from the request");
    }
    Ok(())
}

/// The time until a connection is answered, and the throughput of the echo in megabytes a second.
pub(crate) fn measured(address: SocketAddr) -> io::Result<(Duration, f64)> {
    const BYTES: usize = 64_000_000;
    let begin = Instant::now();
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"PING")?;
    let mut received = vec![0; 64_000];
    stream.read_exact(&mut received[..4])?;
    let answered = begin.elapsed();
    let begin = Instant::now();
    let mut sender = stream.try_clone()?;
    let sending = thread::spawn(move || {
        let part = [7; 64_000];
        (0..BYTES / part.len()).try_for_each(|_| sender.write_all(&part))
    });
    for _ in 0..BYTES / received.len() {
        stream.read_exact(&mut received)?;
    }
    sending.join().unwrap()?;
    Ok((answered, BYTES as f64 / 1e6 / begin.elapsed().as_secs_f64()))
}

pub(crate) fn ping(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"PING")?;
    let mut received = [0; 4];
    stream.read_exact(&mut received)?;
    assert_eq!(&received, b"PING");
    Ok(())
}

/// A hundred connections a second.
pub(crate) struct Traffic {
    is_over: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    clients: thread::JoinHandle<Vec<String>>,
}

impl Traffic {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let (is_over, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (until, count) = (Arc::clone(&is_over), Arc::clone(&sent));
        let clients = thread::spawn(move || {
            let mut clients = Vec::new();
            let begin = Instant::now();
            while !until.load(Ordering::Relaxed) {
                clients.push(thread::spawn(move || ping(address)));
                let number = count.fetch_add(1, Ordering::Relaxed) + 1;
                let next = begin + Duration::from_millis(10) * u32::try_from(number).unwrap();
                thread::sleep(next.saturating_duration_since(Instant::now()));
            }
            let ended = clients.into_iter().map(|it| it.join().unwrap());
            ended
                .filter_map(Result::err)
                .map(|it| it.to_string())
                .collect()
        });
        Self {
            is_over,
            sent,
            clients,
        }
    }

    /// The number of connections, and the errors of those that failed.
    pub(crate) fn end(self) -> (usize, Vec<String>) {
        self.is_over.store(true, Ordering::Relaxed);
        let failed = self.clients.join().unwrap();
        (self.sent.load(Ordering::Relaxed), failed)
    }
}
