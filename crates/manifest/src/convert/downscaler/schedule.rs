//! The downscaler annotations that form a schedule.

use std::{collections::BTreeSet, ops::Range};

use chrono::NaiveDateTime;
use dayshift_schedule::Zone;
use dayshift_workload::Key;

use crate::convert::{
    conversion::Topic,
    downscaler::{
        annotation::{ConvertContext, OldAnnotation, PermanentForce, Remark, SCHEDULE, rfc3339},
        timespan::Spans,
    },
    week::{
        ALWAYS, DatedSpan, DatedSpanError, Desired, KeyTexts, WeekCounts, local_minute,
        starts_and_stops,
    },
};

/// An annotation with time spans, and its index.
struct SpanAnnotation<'o> {
    key: &'static str,
    at: usize,
    text: &'o str,
    spans: Spans,
}

impl SpanAnnotation<'_> {
    fn remark(&self, topic: Topic, message: impl Into<String>, help: impl Into<String>) -> Remark {
        self.remark_at(0..self.text.len(), topic, message, help)
    }

    fn remark_at(
        &self,
        span: Range<usize>,
        topic: Topic,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Remark {
        Remark::new(topic, (self.at, span), message, help)
    }
}

/// The schedule of an object's annotations.
pub(crate) struct DownscalerSchedule<'o> {
    context: ConvertContext<'o>,
    /// In the order of [`SCHEDULE`].
    specs: Vec<SpanAnnotation<'o>>,
}

impl<'o> DownscalerSchedule<'o> {
    pub(crate) fn read(
        olds: &[OldAnnotation<'o>],
        context: ConvertContext<'o>,
    ) -> Result<Self, Remark> {
        let mut specs = Vec::new();
        for key in SCHEDULE {
            if let Some(at) = olds.iter().position(|old| old.0 == key) {
                let text = olds[at].1;
                let spans = context.spans(text);
                let spans = spans.map_err(|finding| {
                    let span = finding.place.clone();
                    finding.at((at, span))
                })?;
                specs.push(SpanAnnotation {
                    key,
                    at,
                    text,
                    spans,
                });
            }
        }
        Ok(Self { context, specs })
    }

    fn get(&self, key: &str) -> Option<&SpanAnnotation<'o>> {
        self.specs.iter().find(|spec| spec.key == key)
    }

    fn name(&self, key: Key) -> String {
        self.context.converter.prefix.annotation(key)
    }

    /// The single zone of all annotations.
    fn zone(&self) -> Result<Option<Zone>, Remark> {
        let zones = || {
            self.specs
                .iter()
                .filter_map(|spec| Some((spec, spec.spans.zone?)))
        };
        let Some((_, known)) = zones().next() else {
            return Ok(None);
        };
        match zones().find(|(_, zone)| *zone != known) {
            None => Ok(Some(known)),
            Some((spec, other)) => Err(spec.remark(
                Topic::TwoZones,
                format!(
                    "the annotations of this object use two time zones, {} and {}; an object can \
                        have one",
                    known.name(),
                    other.name()
                ),
                format!("write both in {}", known.name()),
            )),
        }
    }

    pub(crate) fn texts(self, remarks: &mut Vec<Remark>) -> Result<KeyTexts, Remark> {
        let zone = self.zone()?;
        self.remark_on_spans(remarks);
        let first_of = |one, other| self.get(one).or_else(|| self.get(other));
        let times = first_of("uptime", "downtime");
        if first_of("upscale-period", "downscale-period").is_some() {
            if let Some(spec) = times {
                remarks.push(spec.remark(
                    Topic::BothTimes,
                    "is combined with a period; py-kube-downscaler ignores it, and \
                        GoKubeDownscaler rejects both",
                    "only the periods were converted; check them with dayshift plan",
                ));
            }
            return self.periods(zone);
        }
        if times.is_none() {
            return self.only_forced(remarks);
        }
        self.running(zone, remarks)
    }

    fn remark_on_spans(&self, remarks: &mut Vec<Remark>) {
        for spec in &self.specs {
            if !spec.spans.mornings.is_empty() {
                remarks.push(spec.remark(
                    Topic::WholeNights,
                    format!(
                        "GoKubeDownscaler cuts the last night off at midnight, and py-kube-downscaler never matches times that go backwards; now the night ends in the morning ({})",
                        spec.spans.mornings.hours()
                    ),
                    "check it with dayshift plan; to end the night at midnight, end its last \
                        window at 24:00",
                ));
            }
            for it in &spec.spans.absolute {
                if it.to.is_some_and(|to| to <= self.context.converter.now) {
                    remarks.push(spec.remark_at(
                        it.span.clone(),
                        Topic::Over,
                        "this span is in the past, and was left out",
                        "no action is needed",
                    ));
                }
            }
        }
    }

    fn running(&self, zone: Option<Zone>, remarks: &mut Vec<Remark>) -> Result<KeyTexts, Remark> {
        let now = self.context.converter.now;
        let future_spans = |spec: Option<&SpanAnnotation<'_>>| -> Vec<DatedSpan> {
            let specs = spec.into_iter();
            specs
                .flat_map(|spec| spec.spans.future_spans(now).cloned())
                .collect()
        };
        let (up, down) = (self.get("uptime"), self.get("downtime"));
        if let (Some(_), Some(down)) = (up, down) {
            remarks.push(down.remark(
                Topic::BothTimes,
                "is combined with an uptime; GoKubeDownscaler rejects both",
                "converted as py-kube-downscaler reads it: it runs within the uptime, but not \
                    within the downtime",
            ));
        }
        let mut week = up.map_or_else(WeekCounts::always, |spec| spec.spans.week.clone());
        if let Some(down) = down {
            week = week.without(&down.spans.week);
        }
        let (mut ups, mut downs) = (future_spans(up), future_spans(down));
        let mut overrides = Vec::new();
        let (force_up, force_down) = (self.get("force-uptime"), self.get("force-downtime"));
        for (spec, key) in [(force_up, Key::WakeUntil), (force_down, Key::SleepUntil)] {
            let Some(spec) = spec else { continue };
            if spec.spans.is_always() {
                overrides.push((key, FOR_EVER.to_owned()));
                remarks.push(forced(spec, &self.name(key)));
                continue;
            }
            week = if key == Key::WakeUntil {
                week.union(&spec.spans.week)
            } else {
                week.without(&spec.spans.week)
            };
            for span in future_spans(Some(spec)) {
                match (span.from.is_none_or(|from| from <= now), span.to) {
                    (true, Some(to)) => overrides.push((key, rfc3339(to))),
                    (true, None) => overrides.push((key, FOR_EVER.to_owned())),
                    (false, _) if key == Key::WakeUntil => ups.push(span),
                    (false, _) => downs.push(span),
                }
            }
        }
        if let (Some(up), Some(down)) = (force_up, force_down)
            && up.spans.week.meets(&down.spans.week)
        {
            return Err(down.remark(
                Topic::Contradiction,
                "applies at times when force-uptime applies too; the tool does nothing then",
                "write spans that do not overlap",
            ));
        }
        if let Some(spec) = self.specs.first().filter(|_| week.has_lone_minute()) {
            remarks.push(spec.remark(
                Topic::OneMinute,
                format!(
                    "it runs or is stopped for a single minute of some days: {}",
                    week.hours()
                ),
                "write 24:00 instead of 23:59 for the end of the day",
            ));
        }
        let desired = Desired {
            zone,
            week,
            ups,
            downs,
        };
        let mut texts = desired
            .texts(self.context.converter.now)
            .map_err(|error| self.dated_span_remark(&error))?;
        texts.extend(overrides);
        Ok(texts)
    }

    fn dated_span_remark(&self, error: &DatedSpanError) -> Remark {
        let DatedSpanError { at, reason } = error;
        let has = |spec: &&SpanAnnotation<'_>| spec.spans.absolute.contains(at);
        let at_spec = self.specs.iter().find(has).map_or(0, |spec| spec.at);
        Remark::new(
            Topic::AbsoluteSpan,
            (at_spec, at.span.clone()),
            format!("this span between two dates has no equivalent: {reason}"),
            format!(
                "write the dates into {}, or remove the span and use dayshift sleep or wake \
                    --until then",
                self.name(Key::Except)
            ),
        )
    }

    /// A force-uptime or force-downtime without a schedule on the same object.
    fn only_forced(&self, remarks: &mut Vec<Remark>) -> Result<KeyTexts, Remark> {
        let mut always = |spec: &SpanAnnotation<'_>, key: Key, mut texts: KeyTexts| {
            if self.context.permanent_force == PermanentForce::Override {
                texts.push((key, FOR_EVER.to_owned()));
                remarks.push(forced(spec, &self.name(key)));
            }
            Ok(texts)
        };
        match (self.get("force-uptime"), self.get("force-downtime")) {
            (Some(up), Some(down)) if up.spans.is_always() && down.spans.is_always() => Err(down
                .remark(
                    Topic::Contradiction,
                    "force-uptime and force-downtime are both set; the tool does nothing",
                    "remove one of the two",
                )),
            (Some(up), _) if up.spans.is_always() => {
                let texts = vec![(Key::Hours, ALWAYS.to_owned())];
                always(up, Key::WakeUntil, texts)
            }
            (_, Some(down)) if down.spans.is_always() => {
                let zone = down.spans.zone.unwrap_or(Zone::UTC);
                let texts = vec![
                    (Key::Stop, "00:00".to_owned()),
                    (Key::Timezone, zone.name().to_owned()),
                ];
                always(down, Key::SleepUntil, texts)
            }
            _ => match self.specs.iter().find(|spec| !spec.spans.is_never()) {
                Some(spec) => Err(spec.remark(
                    Topic::ForceElsewhere,
                    "applies only at some times, and overrides a schedule on another object",
                    "write the whole schedule on this object, and convert again",
                )),
                None => Ok(Vec::new()),
            },
        }
    }

    fn periods(&self, zone: Option<Zone>) -> Result<KeyTexts, Remark> {
        let (upscale, downscale) = (self.get("upscale-period"), self.get("downscale-period"));
        let forces = ["force-uptime", "force-downtime"].map(|key| self.get(key));
        if let Some(spec) = forces
            .into_iter()
            .flatten()
            .find(|spec| !spec.spans.is_never())
        {
            return Err(spec.remark(
                Topic::ForceElsewhere,
                "is set in addition to periods, which has no equivalent",
                "use dayshift wake or sleep --until, or write the whole schedule as an uptime",
            ));
        }
        let week = |spec: Option<&SpanAnnotation<'_>>| {
            spec.map_or_else(WeekCounts::default, |spec| spec.spans.week.clone())
        };
        let (up, down) = (week(upscale), week(downscale));
        let zone = zone.unwrap_or(Zone::UTC);
        let starts = self.moments(upscale, &down, zone, Key::Start)?;
        let stops = self.moments(downscale, &up, zone, Key::Stop)?;
        let (only_up, only_down) = (up.without(&down), down.without(&up));
        let mut texts = starts_and_stops(
            (only_up.begins_or_midnights(), starts),
            (only_down.begins_or_midnights(), stops),
        );
        if only_up.is_always() {
            return Ok(vec![(Key::Hours, ALWAYS.to_owned())]);
        }
        if texts.is_empty() {
            return match upscale.or(downscale) {
                Some(spec) => Err(spec.remark(
                    Topic::NoEquivalent,
                    "never matches: GoKubeDownscaler then leaves the object as it is, and \
                        py-kube-downscaler ignores it",
                    format!(
                        "write {}: \"true\" for the former, or remove the annotation",
                        self.name(Key::Exclude)
                    ),
                )),
                None => Ok(texts),
            };
        }
        texts.push((Key::Timezone, zone.name().to_owned()));
        Ok(texts)
    }
    /// The beginnings of the spans between dates, which the other period must not cover.
    fn moments(
        &self,
        spec: Option<&SpanAnnotation<'_>>,
        other: &WeekCounts,
        zone: Zone,
        key: Key,
    ) -> Result<BTreeSet<NaiveDateTime>, Remark> {
        let mut moments = BTreeSet::new();
        let Some(spec) = spec else {
            return Ok(moments);
        };
        let now = self.context.converter.now;
        let begins = |span: &DatedSpan| span.from.filter(|from| *from > now);
        for span in &spec.spans.absolute {
            let Some(from) = begins(span) else { continue };
            let local = local_minute(from, zone).ok();
            moments.insert(local.filter(|_| other.is_empty()).ok_or_else(|| {
                spec.remark_at(
                    span.span.clone(),
                    Topic::AbsoluteSpan,
                    "this span between two dates cannot be combined with a weekly period",
                    format!("write its beginning into {} manually", self.name(key)),
                )
            })?);
        }
        Ok(moments)
    }
}

/// The last year that a date can have.
const FOR_EVER: &str = "2199-12-31 00:00";

fn forced(spec: &SpanAnnotation<'_>, name: &str) -> Remark {
    spec.remark(
        Topic::Forced,
        format!("applies until a user removes it, so {name} gets a date in the far future"),
        format!("remove {name} (dayshift resume does) to return to the schedule"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::conversion::SpanDefaults;

    fn texts(uptime: &str, downs: &str) -> Result<Vec<String>, DatedSpanError> {
        let parse = |text| Spans::parse(text, &SpanDefaults::default()).unwrap();
        let (up, down) = (parse(uptime), parse(downs));
        let desired = Desired {
            zone: up.zone.or(down.zone),
            week: up.week.without(&down.week),
            ups: up.absolute,
            downs: down.absolute,
        };
        let texts = desired.texts("2026-11-22T12:00:00Z".parse().unwrap())?;
        Ok(texts
            .iter()
            .map(|(key, text)| format!("{key}: {text}"))
            .collect())
    }

    #[test]
    fn converts_spans_between_dates() {
        const OFFICE: &str = "Mon-Fri 08:00-20:00 Europe/Berlin";
        for (up, down, expected) in [
            (
                OFFICE,
                "never",
                &["hours: Mon-Fri 08:00-20:00", "timezone: Europe/Berlin"][..],
            ),
            ("always", "never", &["hours: 00:00-24:00"]),
            ("never", "never", &["stop: 00:00", "timezone: UTC"]),
            // Holidays become excluded dates.
            (
                OFFICE,
                "2026-12-24T00:00:00+01:00-2026-12-29T00:00:00+01:00",
                &[
                    "hours: Mon-Fri 08:00-20:00",
                    "except: 2026-12-24..2026-12-25; 2026-12-28",
                    "timezone: Europe/Berlin",
                ],
            ),
            // A Saturday of work.
            (
                "Mon-Fri 08:00-20:00 Europe/Berlin, 2026-11-28T09:00:00+01:00-2026-11-28T15:00:00+01:00",
                "never",
                &[
                    "start: Mon-Fri 08:00; 2026-11-28 09:00",
                    "stop: Mon-Fri 20:00; 2026-11-28 15:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            // Overtime: a start at 20:00 wins over the weekly stop.
            (
                "Mon-Fri 08:00-20:00 Europe/Berlin, 2026-11-27T18:00:00+01:00-2026-11-27T23:00:00+01:00",
                "never",
                &[
                    "start: Mon-Fri 08:00; 2026-11-27 20:00",
                    "stop: Mon-Fri 20:00; 2026-11-27 23:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            // An afternoon off.
            (
                OFFICE,
                "2026-11-27T13:00:00+01:00-2026-11-27T15:00:00+01:00",
                &[
                    "start: Mon-Fri 08:00; 2026-11-27 15:00",
                    "stop: Mon-Fri 20:00; 2026-11-27 13:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            (
                "from 2026-12-01T08:30:00Z",
                "never",
                &["start: 2026-12-01 08:30", "timezone: UTC"],
            ),
            (
                "2020-01-01T00:00:00Z-2020-01-02T00:00:00Z",
                "never",
                &["stop: 00:00", "timezone: UTC"],
            ),
        ] {
            assert_eq!(texts(up, down).unwrap(), expected, "{up} but {down}");
        }
        for (up, down) in [
            (
                OFFICE,
                "2026-11-27T06:00:00+01:00-2026-11-27T09:00:00+01:00",
            ),
            (
                OFFICE,
                "2026-11-27T13:00:30+01:00-2026-11-27T15:00:00+01:00",
            ),
            (OFFICE, "from 2026-11-27T13:00:00+01:00"),
        ] {
            assert!(texts(up, down).is_err(), "{up} but {down}");
        }
    }
}
