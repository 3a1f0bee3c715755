//! The real oauth2-proxy, with the configuration of docs/guides/dashboard.md. See
//! `tests/oauth2_proxy`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Mutex;

use tempfile::TempDir;

use super::login_provider;
use super::login_proxy::{LoginProxy, asked};
use crate::support::{Assets, ChildGuard, eventually};

const PAGE: &str = include_str!("../../../../docs/guides/dashboard.md");

/// A proxy that forwards to `upstream`, until it is dropped.
pub(super) fn before(upstream: SocketAddr) -> LoginProxy {
    let program = Assets::oauth2_proxy().unwrap_or_else(|why| panic!("{why:?}"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let directory = TempDir::new().unwrap();
    let config = directory.path().join("oauth2-proxy.cfg");
    let lines = lines_of_the_page(address, upstream, login_provider::start());
    fs::write(&config, lines).unwrap();
    let log = File::create(directory.path().join("log")).unwrap();
    let mut command = Command::new(program);
    command
        .arg("--config")
        .arg(&config)
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    let running = ChildGuard::spawn(&mut command, Some(directory.path())).unwrap();
    eventually("oauth2-proxy listens", || TcpStream::connect(address).ok());
    let logins = Logins {
        proxy: address,
        cookies: Mutex::default(),
        _running: (running, directory),
    };
    LoginProxy {
        address,
        upstream,
        cookies: Box::new(move |session| logins.cookies(session)),
    }
}

/// The logins at a proxy, which runs until this is dropped.
struct Logins {
    proxy: SocketAddr,
    cookies: Mutex<HashMap<String, String>>,
    _running: (ChildGuard, TempDir),
}

impl Logins {
    /// The cookies of a session, which begins with the first request.
    fn cookies(&self, session: &str) -> String {
        let mut cookies = self.cookies.lock().unwrap();
        let known = cookies.entry(session.to_owned());
        known.or_insert_with(|| log_in(self.proxy, session)).clone()
    }
}

/// The lines of the page with the addresses of the test, and the provider's own lines.
fn lines_of_the_page(listen: SocketAddr, upstream: SocketAddr, provider: SocketAddr) -> String {
    let (_, lines) = PAGE.split_once("```toml\n").unwrap();
    let (lines, _) = lines.split_once("```").unwrap();
    let mut lines = lines.to_owned();
    for (from, to) in [
        ("0.0.0.0:4180", listen.to_string()),
        ("http://127.0.0.1:8081", format!("http://{upstream}")),
        ("https://login.example.com", format!("http://{provider}")),
    ] {
        assert_contains!(lines, from);
        lines = lines.replace(from, &to);
    }
    let client = login_provider::CLIENT;
    format!(
        "{lines}client_id = \"{client}\"\nclient_secret = \"secret\"\n\
         cookie_secret = \"0123456789abcdef0123456789abcdef\"\n"
    )
}

/// Follows the redirects to the provider and back, as a browser does. Returns the cookies of the
/// session.
fn log_in(proxy: SocketAddr, session: &str) -> String {
    let (user, groups) = session.split_once(';').unwrap();
    let begun = asked(proxy, "GET /oauth2/start", "", "");
    let (_, query) = begun.location().split_once('?').unwrap();
    let query: HashMap<_, _> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let code = login_provider::code(user, groups, query.get("nonce"));
    let mut back = form_urlencoded::Serializer::new(String::new());
    back.append_pair("code", &code)
        .append_pair("state", &query["state"]);
    let back = format!("GET /oauth2/callback?{}", back.finish());
    let cookies = format!("Cookie: {}\r\n", begun.cookies());
    let ended = asked(proxy, &back, &cookies, "");
    assert_eq!(ended.status, 302, "{ended:?}");
    assert_contains!(ended.head, "SameSite=Lax");
    ended.cookies()
}
