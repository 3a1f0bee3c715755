//! Addresses that are trusted, such as `10.0.0.7` and `10.0.0.0/8`.

use std::{net::IpAddr, str::FromStr};

use ipnet::IpNet;

/// One address, or all with the same beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

/// Why a text is no network.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// It is neither an address nor one with a length.
    #[error("write an IP address or a network, such as 127.0.0.1, 10.0.0.0/8 or fd00::/8")]
    Unreadable,
    /// It holds every address there is.
    #[error("this trusts every address; name those of the proxy, such as 10.0.0.0/8")]
    Everything,
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let address = text.parse::<IpAddr>().map(IpNet::from);
        let network = address.or_else(|_| text.parse::<IpNet>());
        let network = network.map_err(|_| NetworkError::Unreadable)?;
        if network.prefix_len() == 0 {
            return Err(NetworkError::Everything);
        }
        Ok(Self(network))
    }
}

impl Network {
    /// Whether it holds this address. An IPv4 address that a socket of IPv6 shows
    /// (`::ffff:10.0.0.7`) is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_the_addresses_with_its_beginning() {
        for (network, address, expected) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.0.0.1", "::1", false),
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.3/8", "10.9.9.9", true),
            ("10.0.0.4/30", "10.0.0.7", true),
            ("10.0.0.4/30", "10.0.0.8", false),
            ("10.0.0.4/32", "10.0.0.4", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe00::1", false),
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
    fn texts_that_are_not_networks_or_trust_everyone_are_refused() {
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
        for text in ["0.0.0.0/0", "::/0", "10.0.0.0/00"] {
            let found = text.parse::<Network>();
            assert_eq!(found, Err(NetworkError::Everything), "{text:?}");
        }
    }
}
