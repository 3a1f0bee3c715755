//! A minimal OpenID Connect provider, as oauth2-proxy uses it: the code from a browser identifies
//! the user.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::Utc;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::login_proxy::read_request;

/// The client id of the proxy.
pub(super) const CLIENT: &str = "dayshift";

/// Starts a provider, which runs until the tests end.
pub(super) fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let provider = Provider::new(address);
    thread::spawn(move || {
        for stream in listener.incoming() {
            provider.answer(stream.unwrap());
        }
    });
    address
}

/// The code of a user, for the login that began with this nonce.
pub(super) fn code(user: &str, groups: &str, nonce: Option<&String>) -> String {
    let groups: Vec<_> = groups.split(',').collect();
    URL_SAFE_NO_PAD.encode(json!({"sub": user, "groups": groups, "nonce": nonce}).to_string())
}

struct Provider {
    issuer: String,
    random: SystemRandom,
    key: EcdsaKeyPair,
}

impl Provider {
    fn new(address: SocketAddr) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap();
        Self {
            issuer: format!("http://{address}"),
            random,
            key,
        }
    }

    fn answer(&self, mut client: TcpStream) {
        let Some((head, body)) = read_request(&mut client) else {
            return;
        };
        let path = head.split(' ').nth(1).unwrap();
        let answer = match path {
            "/.well-known/openid-configuration" => json!({
                "issuer": self.issuer,
                "authorization_endpoint": format!("{}/authorize", self.issuer),
                "token_endpoint": format!("{}/token", self.issuer),
                "jwks_uri": format!("{}/keys", self.issuer),
                "id_token_signing_alg_values_supported": ["ES256"],
            }),
            "/keys" => self.keys(),
            "/token" => self.token(&body),
            other => panic!("unexpected request: {other}"),
        };
        let text = answer.to_string();
        let length = text.len();
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json";
        let _ = write!(client, "{head}\r\nContent-Length: {length}\r\n\r\n{text}");
    }

    /// The signing key of the tokens, in the form of RFC 7518 (6.2).
    fn keys(&self) -> Value {
        // After a byte that marks an uncompressed point.
        let point = &self.key.public_key().as_ref()[1..];
        let [x, y] = [&point[..32], &point[32..]].map(|it| URL_SAFE_NO_PAD.encode(it));
        json!({"keys": [
            {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "1", "x": x, "y": y},
        ]})
    }

    fn token(&self, form: &str) -> Value {
        let mut fields = form_urlencoded::parse(form.as_bytes());
        let (_, code) = fields.find(|(name, _)| name == "code").unwrap();
        let code = URL_SAFE_NO_PAD.decode(&*code).unwrap();
        let mut claims: Value = serde_json::from_slice(&code).unwrap();
        let user = claims["sub"].as_str().unwrap();
        claims["email"] = match user.contains('@') {
            true => user.into(),
            false => format!("{user}@example.com").into(),
        };
        let now = Utc::now().timestamp();
        claims["iss"] = (&*self.issuer).into();
        claims["aud"] = CLIENT.into();
        claims["iat"] = now.into();
        claims["exp"] = (now + 3600).into();
        let parts = [json!({"alg": "ES256", "kid": "1"}), claims];
        let signed = parts
            .map(|it| URL_SAFE_NO_PAD.encode(it.to_string()))
            .join(".");
        let signature = self.key.sign(&self.random, signed.as_bytes()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        json!({
            "access_token": "unused", "token_type": "Bearer", "expires_in": 3600,
            "id_token": format!("{signed}.{signature}"),
        })
    }
}
