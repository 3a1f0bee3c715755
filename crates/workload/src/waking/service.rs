//! Which Services `dayshift activator` can stand in for.

use std::{collections::BTreeMap, fmt};

/// A Service, as far as it matters whether somebody can stand in for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSpec {
    /// Whether its type is `ExternalName`.
    pub is_external_name: bool,
    /// Whether its `clusterIP` is `None`.
    pub is_headless: bool,
    /// The labels of the pods behind it.
    pub selector: BTreeMap<String, String>,
    /// Its ports.
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Its name, empty where it has none.
    pub name: Box<str>,
    /// Its number.
    pub number: i32,
    /// `TCP`, `UDP` or `SCTP`; `None` is TCP.
    pub protocol: Option<Box<str>>,
}

/// Why nobody can stand in for a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCovered {
    /// It is a name in DNS.
    ExternalName,
    /// It has no address of its own.
    Headless,
    /// It has no port that takes connections.
    NoTcpPort,
}

impl NotCovered {
    /// Why, in words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::ExternalName => "it is an ExternalName Service",
            Self::Headless => "it is headless, so clients take the addresses of its pods from DNS",
            Self::NoTcpPort => "it has no TCP port",
        }
    }
}

impl ServicePort {
    /// Whether it takes connections.
    pub fn is_tcp(&self) -> bool {
        self.protocol.as_deref().is_none_or(|it| it == "TCP")
    }
}

/// Its name or, without one, its number.
impl fmt::Display for ServicePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => self.number.fmt(f),
            name => f.write_str(name),
        }
    }
}

impl ServiceSpec {
    /// Why nobody can stand in for it, if nobody can. One without a selector selects nothing, and
    /// nobody stands in for it either.
    pub fn not_covered(&self) -> Option<NotCovered> {
        if self.is_external_name {
            Some(NotCovered::ExternalName)
        } else if self.is_headless {
            Some(NotCovered::Headless)
        } else if !self.ports.iter().any(ServicePort::is_tcp) {
            Some(NotCovered::NoTcpPort)
        } else {
            None
        }
    }

    /// Whether it selects pods with these labels.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        selects(&self.selector, labels)
    }
}

/// Whether a selector, which selects nothing while it is empty, takes these labels.
pub fn selects(selector: &BTreeMap<String, String>, labels: &BTreeMap<String, String>) -> bool {
    let has = |(key, value): (&String, &String)| labels.get(key) == Some(value);
    !selector.is_empty() && selector.iter().all(has)
}

/// What requests to the Services of a workload with `wake-on-request` come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCoverage {
    /// The names of Services to which a connection wakes it.
    pub services: Vec<Box<str>>,
    /// Services and ports that select its pods and wake nothing, each with the reason.
    pub not_covered: Vec<String>,
}

impl RequestCoverage {
    /// Of a workload whose pods have these labels, and the Services of its namespace, by name.
    pub fn of<'s>(
        labels: &BTreeMap<String, String>,
        services: impl IntoIterator<Item = (&'s str, &'s ServiceSpec)>,
    ) -> Self {
        let mut coverage = Self::default();
        let selecting = services.into_iter().filter(|(_, it)| it.selects(labels));
        for (name, service) in selecting {
            if let Some(why) = service.not_covered() {
                let text = format!("Service {name} wakes nothing: {}", why.reason());
                coverage.not_covered.push(text);
                continue;
            }
            coverage.services.push(name.into());
            for port in service.ports.iter().filter(|it| !it.is_tcp()) {
                let protocol = port.protocol.as_deref().unwrap_or_default();
                let text = format!("port {port} of Service {name} wakes nothing: it is {protocol}");
                coverage.not_covered.push(text);
            }
        }
        if coverage.services.is_empty() && coverage.not_covered.is_empty() {
            let text = "no Service selects its pods, so no request wakes it";
            coverage.not_covered.push(text.to_owned());
        }
        coverage
    }
}

/// `a request to Service web wakes it; port dns of Service web wakes nothing: it is UDP`
impl fmt::Display for RequestCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wakes = self.services.iter();
        let wakes = wakes.map(|it| format!("a request to Service {it} wakes it"));
        let all: Vec<_> = wakes.chain(self.not_covered.iter().cloned()).collect();
        f.write_str(&all.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn service(ports: &[(&str, i32, Option<&str>)]) -> ServiceSpec {
        let port = |(name, number, protocol): &(&str, i32, Option<&str>)| ServicePort {
            name: (*name).into(),
            number: *number,
            protocol: protocol.map(Into::into),
        };
        ServiceSpec {
            selector: labels(&[("app", "web")]),
            ports: ports.iter().map(port).collect(),
            ..ServiceSpec::default()
        }
    }

    #[test]
    fn a_service_is_covered_for_its_tcp_ports() {
        let web = service(&[
            ("http", 80, None),
            ("", 53, Some("UDP")),
            ("s", 5, Some("SCTP")),
        ]);
        let coverage = RequestCoverage::of(&labels(&[("app", "web"), ("v", "1")]), [("web", &web)]);
        assert_eq!(*coverage.services, ["web".into()]);
        assert_eq!(
            coverage.not_covered,
            [
                "port 53 of Service web wakes nothing: it is UDP",
                "port s of Service web wakes nothing: it is SCTP",
            ]
        );
    }

    #[test]
    fn what_nobody_can_stand_in_for_is_told_with_the_reason() {
        let tcp = service(&[("http", 80, Some("TCP"))]);
        for (service, why) in [
            (
                ServiceSpec {
                    is_external_name: true,
                    ..tcp.clone()
                },
                "Service web wakes nothing: it is an ExternalName Service",
            ),
            (
                ServiceSpec {
                    is_headless: true,
                    ..tcp.clone()
                },
                "Service web wakes nothing: it is headless, so clients take the addresses of its pods from DNS",
            ),
            (
                service(&[("dns", 53, Some("UDP"))]),
                "Service web wakes nothing: it has no TCP port",
            ),
        ] {
            let coverage = RequestCoverage::of(&labels(&[("app", "web")]), [("web", &service)]);
            assert_eq!(
                (&*coverage.not_covered, coverage.services.len()),
                (&[why.to_owned()][..], 0)
            );
        }
    }

    #[test]
    fn a_workload_that_no_service_selects_is_told() {
        let web = service(&[("http", 80, None)]);
        let everything = ServiceSpec {
            selector: BTreeMap::new(),
            ..web.clone()
        };
        let coverage = RequestCoverage::of(
            &labels(&[("app", "db")]),
            [("web", &web), ("all", &everything)],
        );
        assert_eq!(
            coverage.not_covered,
            ["no Service selects its pods, so no request wakes it"]
        );
    }
}
