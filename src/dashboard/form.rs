//! The fields of a posted form, and the action that they request.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use dayshift_operations::{RequestedOverride, Until, parse_length};
use dayshift_text::cut_chars;
use dayshift_workload::MAX_REASON;

/// The maximum number of workloads and of namespaces in a form.
const MAX_OBJECTS: usize = 2_000;
const MAX_NAMESPACES: usize = 20;

/// The length in a form that the user has not edited.
const PREFILLED: &str = "2h";

/// An action that a form can request.
#[derive(Clone, Debug)]
pub(crate) enum RequestedAction {
    Override(RequestedOverride),
    /// Start stopped workloads with their saved counts, whatever their schedules require.
    Restore,
}

/// The value of the button that may end active overrides earlier.
pub(crate) const SHORTEN: &str = "yes";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ActionForm {
    pub(crate) token: String,
    /// The plan to carry out.
    pub(crate) plan: Option<u64>,
    /// Whether the plan may end active overrides earlier.
    pub(crate) shortens: bool,
    pub(crate) fields: FormFields,
    /// `dev/deploy/web`
    pub(crate) objects: BTreeSet<String>,
    pub(crate) namespaces: BTreeSet<String>,
    /// The query of a filter of the timeline, all of whose workloads are chosen.
    pub(crate) matching: Option<String>,
}

/// The fields that a user fills in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FormFields {
    pub(crate) action: String,
    pub(crate) length: String,
    pub(crate) until: String,
    pub(crate) reason: String,
}

impl FormFields {
    pub(crate) fn prefilled() -> Self {
        Self {
            length: PREFILLED.to_owned(),
            ..Self::default()
        }
    }

    /// The requested length. The prefilled length is ignored if an end is given, and for a resume.
    fn asked_length(&self) -> &str {
        let is_no_length =
            !self.until.is_empty() || matches!(&*self.action, "resume" | "sync" | "restore");
        if self.length == PREFILLED && is_no_length {
            return "";
        }
        &self.length
    }
}

impl ActionForm {
    pub(crate) fn parse(body: &[u8]) -> Self {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "token" => form.token = value.into_owned(),
                "plan" => form.plan = value.parse().ok(),
                "shorten" => form.shortens = value == SHORTEN,
                "do" => form.fields.action = value.into_owned(),
                "for" => form.fields.length = value.trim().to_owned(),
                "until" => form.fields.until = value.trim().to_owned(),
                "reason" => form.fields.reason = value.trim().to_owned(),
                "object" => drop(form.objects.insert(value.into_owned())),
                "match" => form.matching = Some(value.into_owned()),
                "namespace" => drop(form.namespaces.insert(value.into_owned())),
                _ => {}
            }
        }
        form
    }

    pub(crate) fn chosen(&self) -> usize {
        self.objects.len() + self.namespaces.len() + usize::from(self.matching.is_some())
    }

    /// Whether the form exceeds the limits.
    pub(crate) fn is_too_much(&self) -> bool {
        self.objects.len() > MAX_OBJECTS || self.namespaces.len() > MAX_NAMESPACES
    }

    /// The reason, truncated to the longest that an annotation can have.
    pub(crate) fn reason(&self) -> Option<String> {
        let reason = cut_chars(&self.fields.reason, MAX_REASON);
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// The requested action.
    ///
    /// # Errors
    ///
    /// A message about the field to correct, in the words of the commands.
    pub(crate) fn requested(&self, now: DateTime<Utc>) -> Result<RequestedAction, String> {
        let fields = &self.fields;
        if self.chosen() == 0 {
            return Err("Nothing is selected: select a workload or a whole namespace.".to_owned());
        }
        if self.is_too_much() {
            return Err(format!(
                "That is too many at once: select at most {MAX_OBJECTS} workloads and \
                 {MAX_NAMESPACES} namespaces."
            ));
        }
        let until = match (fields.asked_length(), &*fields.until) {
            ("", "") => None,
            ("", until) => {
                let until = Until::local(until.to_owned(), now);
                Some(until.map_err(|error| format!("Until: {error}"))?)
            }
            (length, "") => {
                let length = parse_length(length).map_err(|error| format!("For: {error}"))?;
                Some(Until::At(now + length))
            }
            _ => return Err("Give either a length or an end, and not both.".to_owned()),
        };
        let end = until.clone();
        let end = end.ok_or_else(|| "Set an end: for 2h, or until 22:00.".to_owned());
        let requested = match &*fields.action {
            "wake" => end.map(RequestedOverride::Wake),
            "sleep" => end.map(RequestedOverride::Sleep),
            "pause" => Ok(RequestedOverride::Pause(until)),
            action @ ("resume" | "sync" | "restore") if until.is_some() => {
                return Err(format!("A {action} has no end: leave both out."));
            }
            "resume" => Ok(RequestedOverride::Resume),
            "sync" => Ok(RequestedOverride::Sync),
            "restore" => return Ok(RequestedAction::Restore),
            _ => Err("Choose an action: wake, sleep, pause, resume, sync or restore.".to_owned()),
        };
        requested.map(RequestedAction::Override)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_is_parsed_like_the_command() {
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
            ("do=sleep&object=a&until=tonight", "write `22:00`"),
            ("do=wake&object=a&for=1h&until=22:00", "not both"),
            ("do=resume&object=a&for=1h", "no end"),
            // The prefilled length does not conflict with an end.
            ("do=wake&object=a&for=2h&until=22:00", ""),
            ("do=resume&object=a&for=2h&until=", ""),
            ("do=resume&object=a&for=2h&until=22:00", "no end"),
            ("do=sync&object=a&for=2h", ""),
            ("do=sync&match=state%3Dstopped&for=2h", ""),
            ("do=sync&object=a&for=1h", "no end"),
            ("do=restore&object=a&for=2h", ""),
            ("do=restore&object=a&for=1h", "no end"),
            (
                "do=delete&object=a&for=1h",
                "wake, sleep, pause, resume, sync or restore",
            ),
            (
                "object=a&for=1h",
                "wake, sleep, pause, resume, sync or restore",
            ),
            ("do=pause", "Nothing is selected"),
        ] {
            let said = ActionForm::parse(text.as_bytes()).requested(now);
            let said = said.map_or_else(|error| error, |_| String::new());
            let is_expected = said.contains(expected) && said.is_empty() == expected.is_empty();
            assert!(is_expected, "{text}: {said}");
        }
        let many: String = (0..=MAX_OBJECTS)
            .map(|at| format!("&object={at}"))
            .collect();
        let said = ActionForm::parse(format!("do=pause{many}").as_bytes()).requested(now);
        assert!(said.unwrap_err().contains("too many"));
    }
}
