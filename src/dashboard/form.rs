//! The fields of a posted form, and the action that they request.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use dayshift_operations::{RequestedOverride, Until, parse_length};
use dayshift_text::cut_chars;
use dayshift_workload::{AnnotationChange, Inputs, Key, MAX_REASON, MAX_TEXTS, RequestWakes};

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
    /// Write these schedule annotations on the chosen workload.
    Schedule(Vec<AnnotationChange>),
}

/// The value of the field `do` in the form that undoes an action.
pub(crate) const UNDO: &str = "undo";

/// The value of the field `do` in the form that edits a schedule.
pub(crate) const EDIT_SCHEDULE: &str = "schedule";

/// The schedule annotations that a user can edit on a page, in the order of the form. Each field has the
/// name of its key.
pub(crate) const EDITABLE: [Key; 8] = [
    Key::Hours,
    Key::Start,
    Key::Stop,
    Key::NamedSchedule,
    Key::Timezone,
    Key::Except,
    Key::Extra,
    Key::StopAfter,
];

/// The values of [`EDITABLE`] annotations. A value without a field is kept, and an empty field removes the
/// annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScheduleFields([Option<String>; EDITABLE.len()]);

impl ScheduleFields {
    /// The object's own annotations.
    pub(crate) fn from_inputs(inputs: &Inputs) -> Self {
        let own = |key| Some(inputs.own().text(key).unwrap_or_default().to_owned());
        Self(EDITABLE.map(own))
    }

    pub(crate) fn parse(query: &str) -> Self {
        let mut fields = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            fields.set(&name, &value);
        }
        fields
    }

    fn set(&mut self, name: &str, value: &str) {
        let named = EDITABLE.iter().position(|key| key.name() == name);
        if let Some(field) = named.and_then(|at| self.0.get_mut(at)) {
            *field = Some(value.trim().to_owned());
        }
    }

    /// The value of a field; empty without one.
    pub(crate) fn text(&self, key: Key) -> &str {
        let mut fields = EDITABLE.iter().zip(&self.0);
        let field = fields.find(|(editable, _)| **editable == key);
        field
            .and_then(|(_, text)| text.as_deref())
            .unwrap_or_default()
    }

    /// Whether a field has a value.
    pub(crate) fn has_values(&self) -> bool {
        EDITABLE.iter().any(|key| !self.text(*key).is_empty())
    }

    /// The fields with a value, as the query of an address.
    pub(crate) fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for key in EDITABLE {
            let text = self.text(key);
            if !text.is_empty() {
                query.append_pair(key.name(), text);
            }
        }
        query.finish()
    }

    /// The annotations to set, and those to remove.
    pub(crate) fn annotations(&self) -> Vec<AnnotationChange> {
        let fields = EDITABLE.into_iter().zip(&self.0);
        fields
            .filter_map(|(key, text)| {
                let text = text.as_ref()?;
                Some((key, Some(text.clone()).filter(|text| !text.is_empty())))
            })
            .collect()
    }

    /// The length of all values in bytes.
    pub(crate) fn length(&self) -> usize {
        EDITABLE.iter().map(|key| self.text(*key).len()).sum()
    }

    /// Checks the length of all values. The parser checks each of them.
    ///
    /// # Errors
    ///
    /// A message for the page.
    pub(crate) fn check_length(&self) -> Result<(), String> {
        let all = self.length();
        if all > MAX_TEXTS {
            return Err(format!(
                "The schedule has {all} bytes, and at most {MAX_TEXTS} are read. Shorten it."
            ));
        }
        Ok(())
    }
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
    pub(crate) schedule: ScheduleFields,
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
                name => form.schedule.set(name, &value),
            }
        }
        form
    }

    pub(crate) fn chosen(&self) -> usize {
        self.objects.len() + self.namespaces.len() + usize::from(self.matching.is_some())
    }

    /// The plan of the action to undo, if the form undoes one.
    pub(crate) fn undone_plan(&self) -> Option<u64> {
        self.plan.filter(|_| self.fields.action == UNDO)
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
        if fields.action == EDIT_SCHEDULE {
            return self.edited_schedule();
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
            "sleep" => end.map(|end| RequestedOverride::Sleep(end, RequestWakes::Allowed)),
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

    /// The schedule to write on the one chosen workload.
    fn edited_schedule(&self) -> Result<RequestedAction, String> {
        if self.objects.len() != 1 || self.chosen() != 1 {
            return Err("Choose one workload whose schedule to edit.".to_owned());
        }
        self.schedule.check_length()?;
        Ok(RequestedAction::Schedule(self.schedule.annotations()))
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
            ("do=schedule&object=a&hours=Mon-Fri+09:00-17:00", ""),
            (
                "do=schedule&hours=Mon-Fri+09:00-17:00",
                "Nothing is selected",
            ),
            (
                "do=schedule&object=a&object=b&hours=9-5",
                "Choose one workload",
            ),
            (
                "do=schedule&object=a&namespace=b&hours=9-5",
                "Choose one workload",
            ),
            (
                "do=schedule&object=a&match=q%3Dweb&hours=9-5",
                "Choose one workload",
            ),
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

    #[test]
    fn only_given_fields_change_the_schedule() {
        let annotations = |query: &str| ScheduleFields::parse(query).annotations();
        assert_eq!(
            annotations("hours=Mon-Fri+09:00-17:00+&stop=&replicas=0&pause=true"),
            [
                (Key::Hours, Some("Mon-Fri 09:00-17:00".to_owned())),
                (Key::Stop, None)
            ]
        );
        assert_eq!(
            annotations("schedule=office"),
            [(Key::NamedSchedule, Some("office".to_owned()))]
        );
        for (length, is_accepted) in [(MAX_TEXTS, true), (MAX_TEXTS + 1, false)] {
            let half = "x".repeat(MAX_TEXTS / 2);
            let rest = "x".repeat(length - half.len());
            let fields = ScheduleFields::parse(&format!("start={half}&stop={rest}"));
            assert_eq!(fields.check_length().is_ok(), is_accepted, "{length}");
        }
    }
}
