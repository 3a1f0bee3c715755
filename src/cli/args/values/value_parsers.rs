//! From a flag's text to its value, with an example where the text is wrong.

use std::net::{Ipv4Addr, SocketAddr};

use chrono::TimeDelta;
use dayshift_workload::names::is_dns_label;

pub(crate) use dayshift_operations::{parse_duration, parse_span};

/// A loopback address: what listens there, only this machine can reach.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.trim().parse().ok();
    address.filter(|it| it.ip().is_loopback()).ok_or_else(|| {
        "write a loopback address with a port, such as 127.0.0.1:0 or [::1]:8000; the page acts with \
         your permissions, so it is not for other machines"
            .to_owned()
    })
}

/// How long ago a boundary may have been missed and still be done: at least a minute, because
/// every boundary is done a little late.
pub(crate) fn catch_up(text: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        short if short < TimeDelta::minutes(1) => Err(
            "write a minute or more, such as 1h or 72h; every boundary is carried out a \
                 little after its instant"
                .to_owned(),
        ),
        long => Ok(long),
    }
}

/// A bound on the clock's skew; `0` turns the check off. The API server's clock is seen in whole
/// seconds, so a bound of less than two would be met by chance.
pub(crate) fn clock_skew(text: &str) -> Result<ClockSkew, String> {
    match parse_duration(text)? {
        none if none.is_zero() => Ok(ClockSkew(None)),
        short if short < TimeDelta::seconds(2) => {
            Err("write 2s or more, such as 30s, or 0 to turn the check off".to_owned())
        }
        long => Ok(ClockSkew(Some(long))),
    }
}

/// For how long reverts are looked for; `0` turns that off.
pub(crate) fn revert_window(text: &str) -> Result<TimeDelta, String> {
    up_to_a_day(text, "15m")
}

/// How long a start may take; `0` turns that off.
pub(crate) fn ready_within(text: &str) -> Result<TimeDelta, String> {
    up_to_a_day(text, "10m")
}

/// How long before a stop people are told; `0` turns that off.
pub(crate) fn notice(text: &str) -> Result<TimeDelta, String> {
    up_to_a_day(text, "15m")
}

fn up_to_a_day(text: &str, example: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        long if long > TimeDelta::hours(24) => Err(format!(
            "write 24h or less, such as {example}, or 0 to turn it off"
        )),
        time => Ok(time),
    }
}

/// The greatest skew of the clock; `None` where it is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSkew(pub(crate) Option<TimeDelta>);

/// A namespace's name, which is a DNS label (RFC 1123).
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    is_dns_label(text).then(|| text.to_owned()).ok_or_else(|| {
        "a namespace has 1 to 63 of the characters a-z, 0-9 and -, such as team-a; several are \
         separated by commas; leave the flag out for all"
            .to_owned()
    })
}

/// The same where there is one namespace and no more.
pub(crate) fn one_namespace(text: &str) -> Result<String, String> {
    namespace(text).map_err(|_| {
        "a namespace has 1 to 63 of the characters a-z, 0-9 and -, such as team-a".to_owned()
    })
}

/// An address and a port to listen on; `:8080` is every IPv4 address.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    socket_address(text).ok_or_else(|| {
        "write an address and a port, such as 0.0.0.0:8080, 127.0.0.1:0 or [::]:8080".to_owned()
    })
}

/// The same for the pages in the cluster.
pub(crate) fn dashboard_listen(text: &str) -> Result<SocketAddr, String> {
    socket_address(text).ok_or_else(|| {
        "write an address and a port: 127.0.0.1:8081 for kubectl port-forward alone, or 0.0.0.0:8081"
            .to_owned()
    })
}

fn socket_address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix(':') {
        Some(port) => port
            .parse()
            .ok()
            .map(|port| (Ipv4Addr::UNSPECIFIED, port).into()),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_units() {
        for (text, seconds) in [
            ("72h", 259_200),
            ("30s", 30),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("3d", 259_200),
            ("0", 0),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(TimeDelta::seconds(seconds)),
                "{text}"
            );
        }
        for text in ["", "72", "h", "-1h", "99999999999999999999h", "400000d"] {
            assert!(parse_duration(text).unwrap_err().contains("72h"), "{text}");
        }
    }

    #[test]
    fn too_short_a_time_is_refused_where_it_would_make_no_sense() {
        assert_eq!(catch_up("1m"), Ok(TimeDelta::minutes(1)));
        assert!(catch_up("0").is_err());
        assert_eq!(clock_skew("0"), Ok(ClockSkew(None)));
        assert_eq!(
            clock_skew("30s"),
            Ok(ClockSkew(Some(TimeDelta::seconds(30))))
        );
        assert!(clock_skew("1s").is_err());
    }

    #[test]
    fn a_namespace_is_a_dns_label() {
        for good in ["dev", "team-a", "0"] {
            assert_eq!(namespace(good).as_deref(), Ok(good));
        }
        for bad in ["", "Dev", "a b", "-a", "a-", "a_b", "ä", &"a".repeat(64)] {
            assert!(namespace(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn listens_on_what_people_write() {
        for (text, expected) in [
            ("0.0.0.0:8080", Some("0.0.0.0:8080")),
            (":8080", Some("0.0.0.0:8080")),
            ("127.0.0.1:0", Some("127.0.0.1:0")),
            ("[::]:8080", Some("[::]:8080")),
            ("8080", None),
            ("localhost:8080", None),
            (":99999", None),
        ] {
            let read = listen(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
