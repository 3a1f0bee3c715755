//! Tokens with a short lifetime. The API server does not issue any for less than ten minutes.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

/// How long the server accepts an expired token.
const LEEWAY: TimeDelta = TimeDelta::seconds(60);

/// A token signed with `key`, a PEM file, that the server accepts until `expires`.
pub(crate) fn token(key: &Path, issuer: &str, claims: &Value, expires: DateTime<Utc>) -> String {
    let now = Utc::now().timestamp();
    let mut all = json!({
        "iss": issuer,
        "aud": [issuer],
        "iat": now,
        "nbf": now,
        "exp": (expires - LEEWAY).timestamp(),
    });
    let fields = claims.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(fields);
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({"alg": "RS256", "typ": "JWT"});
    let text = format!("{}.{}", encode(&header), encode(&all));

    let pem = fs::read_to_string(key).unwrap();
    let der: String = pem.lines().filter(|line| !line.starts_with("--")).collect();
    let pair = RsaKeyPair::from_der(&STANDARD.decode(der).unwrap()).unwrap();
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        text.as_bytes(),
        &mut signature,
    )
    .unwrap();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}
