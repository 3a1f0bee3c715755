//! What a user has written on the object, as a value.

use crate::calendar::Plan;

/// All of a user's annotations. `plan` counts in the story's list of plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub plan: Option<usize>,
    pub bad: Option<Bad>,
    pub replicas: Option<u32>,
    pub stop_replicas: Option<u32>,
}

/// What can be wrong with annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Day,
    Zone,
    UnknownKey,
    NoHoursBeside,
    Replicas,
    StopReplicas,
    Long,
    Foreign,
    Override,
}

impl Bad {
    pub const ALL: [Self; 9] = [
        Self::Day,
        Self::Zone,
        Self::UnknownKey,
        Self::NoHoursBeside,
        Self::Replicas,
        Self::StopReplicas,
        Self::Long,
        Self::Foreign,
        Self::Override,
    ];

    fn spoil(self, texts: &mut Vec<(String, String)>) {
        let mut put = |key: &str, text: &str| {
            texts.retain(|(known, _)| known != key);
            texts.push((key.to_owned(), text.to_owned()));
        };
        match self {
            Self::Day => put("stop", "Mon-Fry 19:00"),
            Self::Zone => put("timezone", "Mars/Olympus"),
            Self::UnknownKey => put("strat", "Mon-Fri 09:00"),
            Self::NoHoursBeside => {
                put("hours", "09:00-17:00");
                put("start", "09:00");
            }
            Self::Replicas => put("replicas", "two"),
            Self::StopReplicas => put("stop-replicas", "-1"),
            Self::Long => put("start", &"Mon-Fri 09:00, ".repeat(400)),
            Self::Foreign => put("start", &"月曜日 ９時 🕘 ".repeat(30)),
            Self::Override => put("wake-until", "tomorrow"),
        }
    }
}

impl Wish {
    /// Names without prefix, and texts.
    pub fn annotations(&self, plans: &[Plan]) -> Vec<(String, String)> {
        let mut texts: Vec<_> = self.plan.map_or_else(Vec::new, |plan| {
            let texts = plans[plan].texts().into_iter();
            texts.map(|(key, text)| (key.to_owned(), text)).collect()
        });
        let counts = [
            ("replicas", self.replicas),
            ("stop-replicas", self.stop_replicas),
        ];
        for (key, count) in counts {
            texts.extend(count.map(|count| (key.to_owned(), count.to_string())));
        }
        if let Some(bad) = self.bad {
            bad.spoil(&mut texts);
        }
        texts
    }

    /// The texts that make a schedule what it is, in a form to compare.
    pub fn schedule_text(&self, plans: &[Plan]) -> String {
        let mut texts = self.annotations(plans);
        texts.retain(|(key, _)| !matches!(&**key, "replicas" | "stop-replicas"));
        texts.sort();
        format!("{texts:?}")
    }

    /// Whether any of `start`, `stop` and `hours` is there, right or wrong.
    pub fn names_a_schedule(&self) -> bool {
        let named = [Bad::Day, Bad::NoHoursBeside, Bad::Long, Bad::Foreign];
        self.plan.is_some() || self.bad.is_some_and(|bad| named.contains(&bad))
    }

    /// The count after a stop; an unreadable one counts as none.
    pub fn stop_count(&self) -> u32 {
        match self.bad {
            Some(Bad::StopReplicas) => 0,
            _ => self.stop_replicas.unwrap_or(0),
        }
    }
}
