//! Parsers of flag values, each with an error that shows a correct example.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Zone, parse_date_or_date_time};
use dayshift_text::quote;
use dayshift_workload::{
    names::{is_dns_label, is_dns_subdomain, is_label_value},
    savings::Price,
};

use crate::cli::process::usage_error;

pub(crate) use dayshift_operations::{parse_duration, parse_span};

/// A loopback address, which other machines cannot reach.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.trim().parse().ok();
    address.filter(|address| address.ip().is_loopback()).ok_or_else(|| {
        "write a loopback address with a port, such as 127.0.0.1:0 or [::1]:8000; the page acts with \
         your permissions, so it is not for other machines"
            .to_owned()
    })
}

/// The longest delay after which a missed boundary is still applied. It must be at least a minute,
/// because every boundary is applied slightly late.
pub(crate) fn catch_up(text: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        short if short < TimeDelta::minutes(1) => Err(
            "write a minute or more, such as 1h or 72h; every boundary is applied \
             slightly late"
                .to_owned(),
        ),
        long => Ok(long),
    }
}

/// The allowed clock skew; `0` disables the check. The API server reports its time in whole
/// seconds, so the limit should not be below two seconds.
pub(crate) fn clock_skew(text: &str) -> Result<ClockSkew, String> {
    match parse_duration(text)? {
        none if none.is_zero() => Ok(ClockSkew(None)),
        short if short < TimeDelta::seconds(2) => {
            Err("write 2s or more, such as 30s, or 0 to turn the check off".to_owned())
        }
        long => Ok(ClockSkew(Some(long))),
    }
}

/// A duration that `0` turns off, such as how long reverts are detected.
pub(crate) fn up_to_a_day(text: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        long if long > TimeDelta::hours(24) => {
            Err("write 24h or less, such as 15m, or 0 to turn it off".to_owned())
        }
        time => Ok(time),
    }
}

/// The largest allowed clock skew, or `None` if it is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSkew(pub(crate) Option<TimeDelta>);

/// The name of a namespace, which is a DNS label (RFC 1123).
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    is_dns_label(text).then(|| text.to_owned()).ok_or_else(|| {
        "a namespace has 1 to 63 of the characters a-z, 0-9 and -, such as team-a; several are \
         separated by commas; leave the flag out for all"
            .to_owned()
    })
}

/// As [`namespace`], for flags that should not hold a list.
pub(crate) fn one_namespace(text: &str) -> Result<String, String> {
    namespace(text).map_err(|_| {
        "a namespace has 1 to 63 of the characters a-z, 0-9 and -, such as team-a".to_owned()
    })
}

/// An address and a port. `:8080` listens on every IPv4 address.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    socket_address(text).ok_or_else(|| {
        "write an address and a port, such as 0.0.0.0:8080, 127.0.0.1:0 or [::]:8080".to_owned()
    })
}

pub(crate) fn dashboard_listen(text: &str) -> Result<SocketAddr, String> {
    socket_address(text).ok_or_else(|| {
        "write an address and a port: 127.0.0.1:8081 only for kubectl port-forward, or 0.0.0.0:8081"
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

/// Parses the value of `--flag`: a date, or a date and time, in `zone`.
pub(crate) fn time_flag(flag: &str, text: &str, zone: Zone) -> Result<DateTime<Utc>, clap::Error> {
    parse_date_or_date_time(text, zone).map_err(|error| {
        let text = quote(text);
        usage_error(format!(
            "invalid value '{text}' for '--{flag} <T>': {error}"
        ))
    })
}

#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// Show savings in money too: the price of an hour of a CPU core and of a GiB of memory,
    /// such as cpu=0.031,memory=0.0042,currency=EUR
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) price: Option<Arc<Price>>,
}

fn price(text: &str) -> Result<Arc<Price>, String> {
    let price = Price::parse(text).map(Arc::new);
    price.map_err(|error| error.to_string())
}

/// A label selector as kubectl's `-l` accepts it (`labels.Parse` of apimachinery): requirements
/// separated by commas, each `key`, `!key`, `key=value`, `key!=value`, `key in (a,b)`, `key notin
/// (a,b)`, `key>1` or `key<1`. An empty selector selects all. Invalid selectors are rejected here,
/// because the API server would reject them at each retry.
pub(crate) fn selector(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || requirements(text).all(is_requirement) {
        return Ok(text.trim().to_owned());
    }
    Err("write a label selector such as team=web,tier!=db or 'team in (web,shop)'".to_owned())
}

/// A label key, for example `team` or `example.com/team`.
pub(crate) fn label_key(text: &str) -> Result<String, String> {
    let text = text.trim();
    let wrong = || "write the key of a label, such as team or example.com/team".to_owned();
    is_key(text).then(|| text.to_owned()).ok_or_else(wrong)
}

/// Splits at the commas outside parentheses.
fn requirements(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    })
}

fn is_requirement(text: &str) -> bool {
    let text = text.trim();
    if let Some(key) = text.strip_prefix('!') {
        return is_key(key.trim());
    }
    if let Some((left, list)) = text.split_once('(') {
        let mut words = left.split_whitespace();
        let (key, operator) = (words.next().unwrap_or_default(), words.next());
        let Some(values) = list.strip_suffix(')') else {
            return false;
        };
        return is_key(key)
            && matches!(operator, Some("in" | "notin"))
            && words.next().is_none()
            && values.split(',').all(|value| is_label_value(value.trim()));
    }
    for operator in ["!=", "==", "="] {
        if let Some((key, value)) = text.split_once(operator) {
            return is_key(key.trim()) && is_label_value(value.trim());
        }
    }
    if let Some((key, number)) = text.split_once(['>', '<']) {
        let number = number.trim();
        return is_key(key.trim()) && is_label_value(number) && number.parse::<i64>().is_ok();
    }
    is_key(text)
}

/// `name` or `prefix/name`.
fn is_key(text: &str) -> bool {
    let (prefix, name) = text
        .split_once('/')
        .map_or((None, text), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_dns_subdomain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_with_units() {
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
    fn rejects_durations_that_are_too_short() {
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
    fn accepts_dns_labels_as_namespaces() {
        for good in ["dev", "team-a", "0"] {
            assert_eq!(namespace(good).as_deref(), Ok(good));
        }
        for bad in ["", "Dev", "a b", "-a", "a-", "a_b", "ä", &"a".repeat(64)] {
            assert!(namespace(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parses_addresses_to_listen_on() {
        for (text, expected) in [
            ("0.0.0.0:8080", Some("0.0.0.0:8080")),
            (":8080", Some("0.0.0.0:8080")),
            ("127.0.0.1:0", Some("127.0.0.1:0")),
            ("[::]:8080", Some("[::]:8080")),
            ("8080", None),
            ("localhost:8080", None),
            (":99999", None),
        ] {
            let read = listen_address(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn accepts_valid_selectors() {
        for good in [
            "",
            "team",
            "!team",
            "! team",
            "team=web",
            "team==web",
            "team = web , tier != db",
            "team=",
            "app.kubernetes.io/name=web",
            "team in (web,shop),tier notin (db)",
            "team in(web)",
            "team in (web, )",
            "team in ()",
            "priority>3",
            "priority < 3",
        ] {
            assert_eq!(selector(good).as_deref(), Ok(good), "{good}");
        }
    }

    #[test]
    fn rejects_selectors_that_kubernetes_rejects() {
        for bad in [
            ",",
            "team=web,",
            "=web",
            "team in web",
            "team in (web",
            "team (web)",
            "team within (web)",
            "team=web shop",
            "team=(web)",
            "team=-web",
            "priority>high",
            "priority>-3",
            "a/b/c=d",
            "/team=web",
            "Größe=1",
        ] {
            assert!(
                selector(bad).unwrap_err().contains("such as team=web"),
                "{bad}"
            );
        }
    }
}
