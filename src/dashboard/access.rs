//! The key in the printed address, the cookie that keeps it, and the random tokens of both and of forms.

use std::{
    fmt::Write as _,
    io,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use http::{HeaderMap, HeaderValue, Method, header, request::Parts};
use ring::rand::{SecureRandom as _, SystemRandom};
use subtle::ConstantTimeEq as _;

/// The name of the key in the query of an address.
const KEY: &str = "key";

/// The key of this start and the name of the cookie that keeps it.
pub(super) struct Access {
    key: Token,
    /// A key that works once, for an address that other users of this machine can see for a moment.
    once: Mutex<Option<Token>>,
    /// Browsers send a cookie to every port of a host, so the name contains the port.
    cookie: String,
}

/// One browser, identified by random text in its cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Browser(String);

/// The way in which a request is authenticated.
pub(super) enum BrowserAccess {
    Known(Browser),
    /// With the key in its address: redirect to the same address without it, and set this cookie.
    Led {
        to: String,
        cookie: HeaderValue,
    },
    Unknown,
}

impl Access {
    /// Creates a new key for the pages on this port.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(super) fn at(port: u16) -> io::Result<Self> {
        Ok(Self {
            key: Token::random()?,
            once: Mutex::default(),
            cookie: format!("dayshift-{port}"),
        })
    }

    /// The address that contains the key.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        format!("http://{address}/?{KEY}={}", self.key.text())
    }

    /// An address with a key that works once.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(super) fn url_once(&self, address: SocketAddr) -> io::Result<String> {
        let token = Token::random()?;
        let url = format!("http://{address}/?{KEY}={}", token.text());
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(url)
    }

    /// Whether this is the key that works once, which then works no more.
    fn takes_once(&self, text: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.take_if(|token| token.is(text)).is_some()
    }

    /// Authenticates a request.
    ///
    /// # Errors
    ///
    /// The system has no random numbers for a new browser.
    pub(super) fn entry(&self, head: &Parts) -> io::Result<BrowserAccess> {
        let query = head.uri.query().unwrap_or_default();
        let pairs = || form_urlencoded::parse(query.as_bytes());
        let is_get = head.method == Method::GET;
        let has_key = pairs().any(|(name, value)| {
            name == KEY && (self.key.is(&value) || is_get && self.takes_once(&value))
        });
        let known = self.browser(&head.headers);
        if !has_key || !matches!(head.method, Method::GET | Method::HEAD) {
            return Ok(known.map_or(BrowserAccess::Unknown, BrowserAccess::Known));
        }
        let rest: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs().filter(|(name, _)| name != KEY))
            .finish();
        let path = head.uri.path();
        let to = match &*rest {
            "" => path.to_owned(),
            rest => format!("{path}?{rest}"),
        };
        let browser = match known {
            Some(Browser(id)) => id,
            None => Token::random()?.text().to_owned(),
        };
        let cookie = format!(
            "{}={}.{browser}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie,
            self.key.text()
        );
        let cookie = HeaderValue::try_from(cookie).map_err(io::Error::other)?;
        Ok(BrowserAccess::Led { to, cookie })
    }

    /// The browser that sent these headers, if its cookie contains the key.
    fn browser(&self, headers: &HeaderMap) -> Option<Browser> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|cookie| cookie.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .find_map(|cookie| {
                let (name, value) = cookie.trim().split_once('=')?;
                let (key, browser) = value.split_once('.')?;
                let is_it = name == self.cookie && self.key.is(key);
                is_it.then(|| Browser(browser.to_owned()))
            })
    }
}

/// The number of random bytes in a token.
const BYTES: usize = 16;

/// Unguessable random text of 32 hexadecimal digits.
pub(crate) struct Token(String);

impl Token {
    /// Creates a new token.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the system has no random numbers"))?;
        let mut text = String::with_capacity(2 * BYTES);
        for byte in bytes {
            // Writing to a string never fails.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub(super) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(access: &Access, method: &str, uri: &str, cookie: Option<&str>) -> BrowserAccess {
        let mut request = http::Request::builder().method(method).uri(uri);
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        access.entry(&head).unwrap()
    }

    #[test]
    fn key_and_cookie_authenticate_a_browser() {
        let access = Access::at(8000).unwrap();
        let other = Access::at(8000).unwrap();
        let url = access.url("127.0.0.1:8000".parse().unwrap());
        let query = url.strip_prefix("http://127.0.0.1:8000/").unwrap();
        let BrowserAccess::Led { to, cookie } = entry(&access, "GET", &format!("/{query}"), None)
        else {
            panic!("the printed address is refused");
        };
        assert_eq!(to, "/");
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("dayshift-8000="), "{cookie}");
        assert!(
            cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
            "{cookie}"
        );
        let kept = cookie.split(';').next().unwrap();
        let among = format!("a=b; {kept}; dayshift-8001=x.y");
        assert!(matches!(
            entry(&access, "POST", "/act", Some(&among)),
            BrowserAccess::Known(_)
        ));
        // The key is removed from an address even if the browser is known, and the other parameters stay.
        let both = format!("/timeline{query}&q=a%26b&from=2026-10-22");
        let BrowserAccess::Led { to, cookie: again } = entry(&access, "HEAD", &both, Some(kept))
        else {
            panic!("the key stays in the address");
        };
        assert_eq!(to, "/timeline?q=a%26b&from=2026-10-22");
        assert_eq!(again, cookie, "it is the same browser");

        let renamed = kept.replace("8000", "8001");
        let keyless = format!("dayshift-8000={}", "0".repeat(32));
        let cut = &kept[..kept.len() - 33];
        for (method, uri, cookie) in [
            ("GET", "/", None),
            ("GET", "/?key=", None),
            ("GET", "/?key=00000000000000000000000000000000", None),
            ("GET", &url[..url.len() - 1], None),
            ("POST", &format!("/act{query}"), None),
            ("GET", "/", Some(&*renamed)),
            ("GET", "/", Some(&*keyless)),
            ("GET", "/", Some(cut)),
            ("GET", "/", Some("dayshift-8000=.x")),
        ] {
            let found = entry(&access, method, uri, cookie);
            assert!(
                matches!(found, BrowserAccess::Unknown),
                "{method} {uri} {cookie:?}"
            );
        }
        let of_before = entry(&other, "GET", "/", Some(kept));
        assert!(
            matches!(of_before, BrowserAccess::Unknown),
            "that of another start"
        );
    }

    #[test]
    fn token_is_unique_and_compared_completely() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.is(one.text()) && !one.is(other.text()));
        let short = &one.text()[..one.text().len() - 1];
        assert!(!one.is("") && !one.is(short) && !one.is(&format!("{}0", one.text())));
    }
}
