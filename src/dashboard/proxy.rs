//! The authenticating proxy, and how dayshift recognizes its requests: by a loopback address, or by a secret.

use std::{fmt, fs, io, net::IpAddr, path::Path, str::FromStr};

use http::{HeaderMap, HeaderName};
use ipnet::{IpNet, Ipv4Net};
use subtle::ConstantTimeEq as _;

/// The header in which the proxy sends the shared secret.
pub const SECRET_HEADER: HeaderName = HeaderName::from_static("x-dayshift-proxy-secret");

/// The bounds of a secret in bytes. A shorter one can be guessed.
const MIN_SECRET: usize = 16;
const MAX_SECRET: usize = 512;

/// The maximum number of addresses in a trusted range, and its host bits.
const MAX_ADDRESSES: u32 = 1 << MAX_HOST_BITS;
const MAX_HOST_BITS: u8 = 8;

/// The proxy that names users. Everyone who can send a request that this type accepts can claim to be any user.
#[derive(Clone, Debug)]
pub struct TrustedProxy {
    /// The accepted addresses; empty for all.
    networks: Vec<Network>,
    secret: Option<ProxySecret>,
}

/// The reason why a proxy cannot be trusted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// Other processes can have the address of the proxy too.
    #[error(
        "--trusted-proxy with an address that is not loopback needs --proxy-secret-file too, because \
         other pods could have this address or forward requests from it; or run the proxy in the same pod \
         with --trusted-proxy 127.0.0.1"
    )]
    NoSecret,
}

impl TrustedProxy {
    /// Trusts requests from these addresses (empty for all) that contain the secret.
    ///
    /// # Errors
    ///
    /// Without a secret, an address is not loopback, or there is none.
    pub fn new(networks: Vec<Network>, secret: Option<ProxySecret>) -> Result<Self, TrustError> {
        let is_local = !networks.is_empty() && networks.iter().all(Network::is_loopback);
        if secret.is_none() && !is_local {
            return Err(TrustError::NoSecret);
        }
        Ok(Self { networks, secret })
    }

    /// Whether the proxy has sent a request with these headers from this address.
    pub(super) fn has_sent(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let is_known = || self.networks.iter().any(|network| network.contains(peer));
        let has_secret = |secret: &ProxySecret| secret.is_in(headers);
        (self.networks.is_empty() || is_known()) && self.secret.as_ref().is_none_or(has_secret)
    }
}

/// A secret that the proxy and dayshift share.
#[derive(Clone)]
pub struct ProxySecret(String);

/// The reason why a secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The text cannot be sent in a header, or could be guessed.
    #[error(
        "write {MIN_SECRET} to {MAX_SECRET} ASCII characters without blanks, such as those of \
         `openssl rand -hex 32`"
    )]
    Invalid,
}

impl ProxySecret {
    /// Reads the secret from a file, without the line break at its end.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the secret cannot be used.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SecretError> {
        fs::read_to_string(path)?.parse()
    }

    /// Compares in constant time. The header must not occur twice: a proxy might append its own to the one of
    /// an attacker.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(SECRET_HEADER).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        self.0.as_bytes().ct_eq(value.as_bytes()).into()
    }
}

impl FromStr for ProxySecret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        let text = text.trim_end_matches(['\r', '\n']);
        let has_valid_length = (MIN_SECRET..=MAX_SECRET).contains(&text.len());
        if !has_valid_length || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError::Invalid);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for ProxySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxySecret")
    }
}

/// An IP address, or a CIDR range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

/// The reason why a text is not a network.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// The text is neither an address nor a CIDR range.
    #[error("write an IP address or a network, such as 127.0.0.1, 10.0.0.0/24 or fd00::/120")]
    Unreadable,
    /// The range contains more than 256 addresses.
    #[error(
        "this trusts more than {MAX_ADDRESSES} addresses; name those of the proxy, such as 127.0.0.1 or \
         10.0.0.0/24, or leave them out and use --proxy-secret-file"
    )]
    Wide,
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let address = text.parse::<IpAddr>().map(IpNet::from);
        let network = address.or_else(|_| text.parse::<IpNet>());
        let network = unmapped(network.map_err(|_| NetworkError::Unreadable)?);
        if network.max_prefix_len() - network.prefix_len() > MAX_HOST_BITS {
            return Err(NetworkError::Wide);
        }
        Ok(Self(network))
    }
}

/// The number of leading bits that all IPv4-mapped IPv6 addresses (`::ffff:10.0.0.7`) have in common.
const MAPPED_BITS: u8 = 96;

/// The IPv4 form of a network of IPv4-mapped IPv6 addresses.
fn unmapped(network: IpNet) -> IpNet {
    let mapped = match network {
        IpNet::V6(network) => network.addr().to_ipv4_mapped(),
        IpNet::V4(_) => None,
    };
    let bits = network.prefix_len().checked_sub(MAPPED_BITS);
    let unmapped = mapped.zip(bits);
    let unmapped = unmapped.and_then(|(address, bits)| Ipv4Net::new(address, bits).ok());
    unmapped.map_or(network, IpNet::V4)
}

impl Network {
    /// Whether the network contains this address. An IPv4-mapped IPv6 address (`::ffff:10.0.0.7`) is treated
    /// as IPv4, here and in the network itself.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// Whether only processes of the same pod or machine can have these addresses.
    fn is_loopback(&self) -> bool {
        self.0.network().is_loopback() && self.0.broadcast().is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn networks(texts: &[&str]) -> Vec<Network> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_loopback_addresses_are_trusted_without_a_secret() {
        let secret = || Some(SECRET.parse().unwrap());
        for (addresses, expected) in [
            (&["127.0.0.1"][..], true),
            (&["127.0.0.1", "::1"], true),
            (&["127.0.0.0/24"], true),
            (&[], false),
            (&["10.0.0.7"], false),
            (&["127.0.0.1", "10.0.0.7"], false),
            (&["::ffff:127.0.0.1"], true),
            (&["::ffff:127.0.0.0/120"], true),
            (&["::ffff:10.0.0.7"], false),
            (&["::/120"], false),
        ] {
            let found = TrustedProxy::new(networks(addresses), None);
            assert_eq!(found.is_ok(), expected, "{addresses:?}: {found:?}");
            assert!(TrustedProxy::new(networks(addresses), secret()).is_ok());
        }
    }

    #[test]
    fn proxy_is_recognized_by_its_address_and_exactly_one_secret() {
        let secret = || Some(SECRET.parse().unwrap());
        let anywhere = TrustedProxy::new(Vec::new(), secret()).unwrap();
        let here = TrustedProxy::new(networks(&["10.0.0.0/24"]), secret()).unwrap();
        let sidecar = TrustedProxy::new(networks(&["127.0.0.1"]), None).unwrap();
        for (proxy, peer, sent, expected) in [
            (&anywhere, "10.9.9.9", &[SECRET][..], true),
            (&anywhere, "10.9.9.9", &[], false),
            (&anywhere, "127.0.0.1", &[], false),
            (&anywhere, "10.9.9.9", &["0123456789abcdeg"], false),
            (&anywhere, "10.9.9.9", &["0123456789abcde"], false),
            (&anywhere, "10.9.9.9", &[""], false),
            (&anywhere, "10.9.9.9", &[SECRET, SECRET], false),
            (&anywhere, "10.9.9.9", &["wrong-wrong-wrong", SECRET], false),
            (&here, "10.0.0.7", &[SECRET], true),
            (&here, "::ffff:10.0.0.7", &[SECRET], true),
            (&here, "10.0.1.7", &[SECRET], false),
            (&here, "10.0.0.7", &[], false),
            (&sidecar, "127.0.0.1", &[], true),
            (&sidecar, "10.0.0.7", &[SECRET], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in sent {
                headers.append(SECRET_HEADER, HeaderValue::from_static(value));
            }
            let found = proxy.has_sent(peer.parse().unwrap(), &headers);
            assert_eq!(found, expected, "{proxy:?} {peer} {sent:?}");
        }
    }

    #[test]
    fn secret_must_be_long_and_fit_into_a_header() {
        let long = "x".repeat(MAX_SECRET + 1);
        for (text, expected) in [
            (SECRET, true),
            ("0123456789abcdef\r\n", true),
            ("0123456789abcde", false),
            ("0123456789abcde\n", false),
            ("0123456789 abcdef", false),
            ("0123456789\nabcdef", false),
            ("0123456789abcdeé", false),
            ("", false),
            (&long, false),
        ] {
            assert_eq!(text.parse::<ProxySecret>().is_ok(), expected, "{text:?}");
        }
        let shown = format!("{:?}", SECRET.parse::<ProxySecret>().unwrap());
        assert!(!shown.contains(SECRET), "{shown}");
    }

    #[test]
    fn network_contains_the_addresses_in_its_range() {
        for (network, address, expected) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.0.0.1", "::1", false),
            ("::ffff:127.0.0.1", "127.0.0.1", true),
            ("::ffff:127.0.0.1", "::ffff:127.0.0.1", true),
            ("::ffff:127.0.0.1", "127.0.0.2", false),
            ("::ffff:10.0.0.0/120", "10.0.0.255", true),
            ("::ffff:10.0.0.0/120", "10.0.1.0", false),
            ("10.0.0.0/24", "10.0.0.255", true),
            ("10.0.0.0/24", "10.0.1.0", false),
            ("10.1.2.3/24", "10.1.2.9", true),
            ("10.0.0.4/30", "10.0.0.7", true),
            ("10.0.0.4/30", "10.0.0.8", false),
            ("10.0.0.4/32", "10.0.0.4", true),
            ("fd00::/120", "fd00::1", true),
            ("fd00::/120", "fd00::100", false),
            ("::1", "::1", true),
            ("::1", "127.0.0.1", false),
            ("::1/128", "::2", false),
        ] {
            let network: Network = network.parse().unwrap();
            let found = network.contains(address.parse().unwrap());
            assert_eq!(found, expected, "{network:?} {address}");
        }
    }

    #[test]
    fn invalid_and_wide_networks_are_rejected() {
        for text in [
            "",
            "proxy",
            "10.0.0",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0.1:80",
            " 10.0.0.1",
            "10.0.0.0/8/8",
        ] {
            let found = text.parse::<Network>();
            assert_eq!(found, Err(NetworkError::Unreadable), "{text:?}");
        }
        for text in [
            "0.0.0.0/0",
            "::/0",
            "10.0.0.0/00",
            "10.0.0.0/8",
            "10.0.0.0/23",
            "127.0.0.0/8",
            "fd00::/119",
            "::ffff:10.0.0.0/96",
            "::ffff:10.0.0.0/119",
            "::ffff:0:0/95",
        ] {
            let found = text.parse::<Network>();
            assert_eq!(found, Err(NetworkError::Wide), "{text:?}");
        }
    }
}
