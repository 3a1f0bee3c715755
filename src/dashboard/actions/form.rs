//! What a posted form asks for.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::{
    operations::{RequestedOverride, Until, parse_span},
    text::cut_chars,
    workload::MAX_REASON,
};

/// The most workloads and the most namespaces of one form.
const MAX_OBJECTS: usize = 2_000;
const MAX_NAMESPACES: usize = 20;

/// What a form says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) token: String,
    /// Which plan is to be carried out.
    pub(super) plan: Option<u64>,
    action: String,
    length: String,
    until: String,
    reason: String,
    /// `dev/deploy/web`
    pub(super) objects: BTreeSet<String>,
    pub(super) namespaces: BTreeSet<String>,
}

impl Form {
    pub(super) fn parse(body: &[u8]) -> Self {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "token" => form.token = value.into_owned(),
                "plan" => form.plan = value.parse().ok(),
                "do" => form.action = value.into_owned(),
                "for" => form.length = value.trim().to_owned(),
                "until" => form.until = value.trim().to_owned(),
                "reason" => form.reason = value.trim().to_owned(),
                "object" => drop(form.objects.insert(value.into_owned())),
                "namespace" => drop(form.namespaces.insert(value.into_owned())),
                _ => {}
            }
        }
        form
    }

    /// Why, in the words of whoever fills it in.
    pub(super) fn reason(&self) -> Option<String> {
        let reason = cut_chars(&self.reason, MAX_REASON);
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// What is requested.
    ///
    /// # Errors
    /// What has to be filled in otherwise, as the commands say it.
    pub(super) fn requested(&self, now: DateTime<Utc>) -> Result<RequestedOverride, String> {
        if self.objects.is_empty() && self.namespaces.is_empty() {
            return Err("Nothing is chosen: tick a workload or a whole namespace.".to_owned());
        }
        if self.objects.len() > MAX_OBJECTS || self.namespaces.len() > MAX_NAMESPACES {
            return Err(format!(
                "That is too much at once: choose at most {MAX_OBJECTS} workloads and \
                 {MAX_NAMESPACES} namespaces."
            ));
        }
        let until = match (&*self.length, &*self.until) {
            ("", "") => None,
            ("", until) => {
                let until = Until::local(until.to_owned(), now);
                Some(until.map_err(|error| format!("Until: {error}"))?)
            }
            (length, "") => {
                let length = parse_span(length).map_err(|error| format!("For: {error}"))?;
                Some(Until::At(now + length))
            }
            _ => return Err("Give either a length or an end, and not both.".to_owned()),
        };
        let end = until.clone();
        let end = end.ok_or_else(|| "Set an end: for 2h, or until 22:00.".to_owned());
        match &*self.action {
            "wake" => end.map(RequestedOverride::Wake),
            "sleep" => end.map(RequestedOverride::Sleep),
            "pause" => Ok(RequestedOverride::Pause(until)),
            "resume" if until.is_some() => Err("A resume has no end: leave both out.".to_owned()),
            "resume" => Ok(RequestedOverride::Resume),
            _ => Err("Choose what is to be done: wake, sleep, pause or resume.".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_asks_for_what_a_command_would() {
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("do=wake&for=2h&object=dev/deploy/web", ""),
            ("do=wake&for=&until=22:00&namespace=dev", ""),
            ("do=pause&object=a", ""),
            ("do=resume&object=a&for=+", ""),
            ("do=wake&object=a", "Set an end: for 2h, or until 22:00."),
            ("do=sleep&object=a&for=2", "write a time such as 30s"),
            ("do=sleep&object=a&for=0", "longer than 0"),
            ("do=sleep&object=a&for=-1h", "write a time such as 30s"),
            ("do=sleep&object=a&until=tonight", "2026-12-24 18:00"),
            ("do=wake&object=a&for=1h&until=22:00", "not both"),
            ("do=resume&object=a&for=1h", "no end"),
            ("do=delete&object=a&for=1h", "wake, sleep, pause or resume"),
            ("object=a&for=1h", "wake, sleep, pause or resume"),
            ("do=pause", "Nothing is chosen"),
        ] {
            let said = Form::parse(text.as_bytes()).requested(now);
            let said = said.map_or_else(|error| error, |_| String::new());
            let is_expected = said.contains(expected) && said.is_empty() == expected.is_empty();
            assert!(is_expected, "{text}: {said}");
        }
        let many: String = (0..=MAX_OBJECTS)
            .map(|at| format!("&object={at}"))
            .collect();
        let said = Form::parse(format!("do=pause{many}").as_bytes()).requested(now);
        assert!(said.unwrap_err().contains("too much"));
    }
}
