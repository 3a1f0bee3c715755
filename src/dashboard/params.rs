//! The query parameters of a page: filters, period, zone and colors.

use chrono::NaiveDate;
use dayshift_schedule::{Tzdata, Zone};

/// The parsed query of an address. Unreadable parameters are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    pub(super) theme: Option<Theme>,
    /// Whether the page does not reload automatically.
    pub(super) still: bool,
    pub(super) namespace: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) state: Option<String>,
    pub(super) text: Option<String>,
    /// The label selector of workloads, such as `app=web`.
    pub(super) label: Option<String>,
    /// The label selector of Namespaces, such as `team=payments`.
    pub(super) team: Option<String>,
    /// The named schedule that workloads follow.
    pub(super) schedule: Option<String>,
    /// The query of the timeline from which a page was opened.
    pub(super) back: Option<String>,
    /// The first day of the timeline.
    pub(super) from: Option<NaiveDate>,
    /// The order of the timeline.
    pub(super) sort: Sort,
    /// The page number of the timeline, from 1.
    pub(super) page: usize,
    /// The time zone of all times on the page, instead of the zones of the schedules.
    pub(super) zone: Option<Zone>,
    /// The error about the requested zone.
    pub(super) refused_zone: Option<String>,
}

/// The order of workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Name,
    State,
    Next,
}

impl Sort {
    /// The value in an address; `None` for the default.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Name => None,
            Self::State => Some("state"),
            Self::Next => Some("next"),
        }
    }
}

/// The color scheme, if it differs from the system's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// No Kubernetes name is longer.
const MAX_TEXT: usize = 253;
/// The maximum number of characters of the query of another page.
const MAX_QUERY: usize = 2_000;

impl Params {
    pub(super) fn parse(query: &str, tzdata: &Tzdata) -> Self {
        let mut params = Self {
            page: 1,
            ..Self::default()
        };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let cut = |characters| {
                let value = dayshift_text::cut_chars(value.trim(), characters);
                (!value.is_empty()).then(|| value.to_owned())
            };
            let text = || cut(MAX_TEXT);
            match &*name {
                "theme" => {
                    params.theme = match &*value {
                        "light" => Some(Theme::Light),
                        "dark" => Some(Theme::Dark),
                        _ => None,
                    }
                }
                "refresh" => params.still = value == "off",
                "namespace" => params.namespace = text(),
                "kind" => params.kind = text(),
                "state" => params.state = text(),
                "q" => params.text = text(),
                "label" => params.label = text(),
                "team" => params.team = text(),
                "schedule" => params.schedule = text(),
                "back" => params.back = cut(MAX_QUERY),
                "from" => params.from = value.parse().ok(),
                "sort" => {
                    params.sort = match &*value {
                        "state" => Sort::State,
                        "next" => Sort::Next,
                        _ => Sort::Name,
                    }
                }
                "tz" => match text().map(|name| tzdata.parse_zone(&name)) {
                    Some(Ok(zone)) => params.zone = Some(zone),
                    Some(Err(error)) => params.refused_zone = Some(error.to_string()),
                    None => {}
                },
                "page" => params.page = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        params
    }

    /// The query parameters, without defaults.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let all = [
            ("theme", text(self.theme.map(Theme::name))),
            ("refresh", text(self.still.then_some("off"))),
            ("namespace", self.namespace.clone()),
            ("kind", self.kind.clone()),
            ("state", self.state.clone()),
            ("q", self.text.clone()),
            ("label", self.label.clone()),
            ("team", self.team.clone()),
            ("schedule", self.schedule.clone()),
            ("back", self.back.clone()),
            ("from", self.from.map(|date| date.to_string())),
            ("sort", text(self.sort.name())),
            ("page", (self.page > 1).then(|| self.page.to_string())),
            ("tz", text(self.zone.map(Zone::name))),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The address of `path`, which can have a query, with these parameters.
    pub(super) fn link(&self, path: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.extend_pairs(self.pairs()).finish();
        match (&*query, path.contains('?')) {
            ("", _) => path.to_owned(),
            (query, true) => format!("{path}&{query}"),
            (query, false) => format!("{path}?{query}"),
        }
    }

    /// The parameters that links to all pages keep.
    pub(super) fn common(&self) -> Self {
        Self {
            theme: self.theme,
            still: self.still,
            zone: self.zone,
            page: 1,
            ..Self::default()
        }
    }

    /// Whether a filter is set.
    pub(super) fn filters(&self) -> bool {
        let texts = [
            &self.namespace,
            &self.kind,
            &self.state,
            &self.text,
            &self.label,
            &self.team,
            &self.schedule,
        ];
        texts.iter().any(|text| text.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_a_round_trip() {
        let params = Params {
            theme: Some(Theme::Dark),
            still: true,
            namespace: Some("a&b=c".into()),
            kind: Some("Deployment".into()),
            state: Some("left stopped".into()),
            text: Some("<script>\"é".into()),
            label: Some("app in (web,api),!tier".into()),
            team: Some("team=payments".into()),
            schedule: Some("office-tokyo".into()),
            back: Some("state=is-asleep&q=a%26b".into()),
            from: NaiveDate::from_ymd_opt(2026, 10, 23),
            sort: Sort::Next,
            page: 3,
            zone: Some(Zone::parse("Asia/Tokyo").unwrap()),
            refused_zone: None,
        };
        let link = params.link("/timeline");
        let (_, query) = link.split_once('?').unwrap();
        assert!(!query.contains(['<', '"', ' ']), "{link}");
        assert_eq!(Params::parse(query, Tzdata::bundled()), params);
        let none = Params::parse("", Tzdata::bundled());
        assert_eq!(none.link("/"), "/");
        for odd in [
            "page=0",
            "page=-1",
            "page=x",
            "from=soon",
            "theme=%00",
            "%ff=%ff&&=",
            "refresh",
        ] {
            assert_eq!(Params::parse(odd, Tzdata::bundled()), none, "{odd}");
        }
    }
}
