//! Reads KEDA's cron triggers, which set a count between a start and an end.

use chrono::{NaiveDate, NaiveTime, TimeDelta};
use dayshift_schedule::{Times, Tzdata, Zone};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::{
    convert::{
        conversion::{PlacedFinding, Topic},
        document::Document,
        requests::{AnnotationRequests, RequestTarget, scale_target},
        week::{KeyTexts, WeekCounts, minutes_of_week, weekly_text},
    },
    finding::Finding,
    yaml::node::{Location, Node, Scalar},
};

/// Requests the schedule of a ScaledObject's cron triggers.
///
/// # Errors
/// Why nothing is converted.
pub(crate) fn convert(
    document: &Document<'_>,
    requests: &mut AnnotationRequests<'_>,
) -> Result<(), PlacedFinding> {
    let Some(spec) = document.node.get("spec") else {
        return Ok(());
    };
    let all = spec.list("triggers");
    let crons: Vec<_> = all.iter().filter(|trigger| is_cron(trigger)).collect();
    let Some(first) = crons.first() else {
        return Ok(());
    };
    let modifiers = spec.at(&["advanced", "scalingModifiers"]);
    if let Some(modifiers) = modifiers.filter(|modifiers| !modifiers.entries().is_empty()) {
        return Err(Finding::new(
            Topic::Triggers,
            modifiers.place.clone(),
            "scalingModifiers compute another count from the triggers; that has no equivalent",
            format!(
                "keep the ScaledObject, or write the counts into {} manually",
                requests.name(Key::Scale)
            ),
        ));
    }
    if crons.len() < all.len() {
        let (hours, wake) = (requests.name(Key::Hours), requests.name(Key::WakeOnRequest));
        let effect = if all.iter().any(|trigger| is_http(trigger)) {
            format!(
                "a pause also ends the wakes by its HTTP trigger. To have requests wake it, delete the ScaledObject, and write {hours} and {wake} on the workload"
            )
        } else {
            "its other triggers do not scale it while it is paused".to_owned()
        };
        return Err(Finding::new(
            Topic::Triggers,
            first.place.clone(),
            "the cron trigger is combined with others, which scale between the bounds that it \
                sets; that has no equivalent",
            format!(
                "keep the ScaledObject, and annotate it (not the workload) with a schedule to pause it while stopped: dayshift run --kinds …,scaledobjects; {effect}"
            ),
        ));
    }
    if let Some(node) = crons.iter().find(|node| is_zero(node)) {
        return Err(zero_replicas(node, requests));
    }
    let tzdata = &requests.converter.defaults.tzdata;
    let triggers = crons.iter().map(|node| Trigger::read(node, spec, tzdata));
    let triggers: Vec<_> = triggers.collect::<Result<_, _>>()?;
    let target = scale_target(document, spec, ("apps/v1", "Deployment"))?;
    for (trigger, node) in triggers.iter().zip(&crons) {
        if !trigger.alternates() {
            requests.report(
                Topic::Turns,
                &node.place,
                "its starts and ends do not alternate; KEDA checks which comes next, and so \
                    ignores all but the last of several ends in a row",
                "now each end stops and each start starts; check it with dayshift plan",
            );
        }
    }
    let low = low(spec);
    let texts = match &triggers[..] {
        [one] => Some(one.texts(low)),
        several => steps(several, low),
    };
    let mut texts = texts.ok_or_else(|| {
        Finding::new(
            Topic::Triggers,
            first.place.clone(),
            "several cron triggers, whose highest count applies, can be converted only if all \
                are weekly and in one zone",
            format!(
                "write the counts into {} manually, such as Mon-Fri 08:00 = 5; 19:00 = 0",
                requests.name(Key::Scale)
            ),
        )
    })?;
    if let Some(place) = paused(document) {
        let pause = requests.name(Key::Pause);
        requests.report(
            Topic::Forced,
            place,
            format!("the ScaledObject is paused until a user ends that; {pause} does the same"),
            format!("remove {pause} (dayshift resume does) to follow the schedule"),
        );
        texts.push((Key::Pause, "true".to_owned()));
    }
    requests.ask(texts, vec![RequestTarget::Object(target)], Vec::new());
    requests.delete_after(
        document,
        "KEDA's autoscaler sets the count until it is deleted",
        "",
    );
    Ok(())
}

/// Reports a ScaledJob with a cron trigger, which has no equivalent.
pub(crate) fn job(document: &Document<'_>) -> Result<(), PlacedFinding> {
    let triggers = document.node.at(&["spec", "triggers"]);
    let mut all = triggers.map_or(&[][..], Node::items).iter();
    let Some(trigger) = all.find(|trigger| is_cron(trigger)) else {
        return Ok(());
    };
    Err(Finding::new(
        Topic::NoEquivalent,
        trigger.place.clone(),
        "a ScaledJob creates Jobs between the start and the end of its cron trigger; that has no \
            equivalent",
        "keep it, or make it a CronJob, which dayshift suspends and resumes",
    ))
}

/// Whether a trigger wakes by HTTP requests: KEDA's HTTP add-on is an external scaler.
fn is_http(trigger: &Node<'_>) -> bool {
    let address = || trigger.at(&["metadata", "scalerAddress"])?.written();
    let kind = trigger.word("type");
    kind == "http"
        || kind.starts_with("external") && address().is_some_and(|address| address.contains("http"))
}

fn is_zero(trigger: &Node<'_>) -> bool {
    let count = trigger.at(&["metadata", "desiredReplicas"]);
    count.and_then(number) == Some(0)
}

/// A trigger with 0 replicas does not stop the workload: while it is active, KEDA keeps at least 1.
fn zero_replicas(trigger: &Node<'_>, requests: &AnnotationRequests<'_>) -> PlacedFinding {
    let field = |name| trigger.at(&["metadata", name])?.written();
    let (mut stop, mut start) = (requests.name(Key::Stop), requests.name(Key::Start));
    let mut zone = String::new();
    let text = |name| field(name).and_then(weekly_text);
    if let (Some(from), Some(to)) = (text("start"), text("end")) {
        stop += &format!(": \"{from}\"");
        start += &format!(": \"{to}\"");
        zone = field("timezone").map_or(zone, |zone| {
            format!(" and {}: \"{}\"", requests.name(Key::Timezone), quote(zone))
        });
    }
    Finding::new(
        Topic::NoEquivalent,
        trigger.place.clone(),
        "desiredReplicas is 0, which does not stop a workload: while a trigger is active, KEDA \
            keeps at least 1",
        format!(
            "to stop it in between, write {stop} and {start}{zone} on the workload, and delete the ScaledObject"
        ),
    )
}

pub(crate) fn is_cron(trigger: &Node<'_>) -> bool {
    trigger.get("type").and_then(Node::text) == Some("cron")
}

/// The place at which a ScaledObject is paused, as `NeedToBePausedByAnnotation` and
/// `getBoolAnnotation` of KEDA's `scaledobject_types.go` (01ee1d3) read it. A value that is not a
/// boolean pauses too.
fn paused<'d>(document: &'d Document<'_>) -> Option<&'d Location> {
    let mut all = document.own_annotations().iter();
    let entry = all.find(|entry| match entry.name() {
        "autoscaling.keda.sh/paused-replicas" => true,
        "autoscaling.keda.sh/paused" => {
            let value = entry.value.written().unwrap_or_default();
            !["0", "f", "F", "false", "False", "FALSE"].contains(&value)
        }
        _ => false,
    })?;
    Some(&entry.key.place)
}

/// The count outside of all triggers.
fn low(spec: &Node<'_>) -> u64 {
    let count = |name| number(spec.get(name)?);
    let idle = count("idleReplicaCount");
    idle.or_else(|| count("minReplicaCount"))
        .unwrap_or_default()
}

fn number(node: &Node<'_>) -> Option<u64> {
    match node.scalar()? {
        Scalar::Number(number) => number.as_u64(),
        _ => node.written()?.parse().ok(),
    }
}

/// A cron trigger.
struct Trigger {
    start: String,
    end: String,
    zone: Zone,
    count: u64,
}

impl Trigger {
    fn read(node: &Node<'_>, spec: &Node<'_>, tzdata: &Tzdata) -> Result<Self, PlacedFinding> {
        const HELP: &str = "see KEDA's documentation of the cron scaler";
        let error =
            |message: String, help| Finding::new(Topic::NotRead, node.place.clone(), message, help);
        let field = |name: &str| {
            let value = node.at(&["metadata", name]);
            value.ok_or_else(|| error(format!("the cron trigger has no {name}"), HELP))
        };
        let cron = |name: &str| {
            let text = field(name)?.written().unwrap_or_default();
            let is_five = text.split_whitespace().count() == 5;
            if is_five && weekly_text(text).is_some() {
                return Ok(text.to_owned());
            }
            Err(error(
                format!("`{}` is not cron as KEDA reads it", quote(text)),
                "write minute, hour, day of month, month and day of week, such as 0 8 * * 1-5",
            ))
        };
        let zone = field("timezone")?.written().unwrap_or_default();
        let zone = tzdata.parse_zone(zone);
        let zone = zone.map_err(|problem| error(problem.to_string(), HELP))?;
        let count = number(field("desiredReplicas")?).filter(|count| *count > 0);
        let count = count
            .ok_or_else(|| error("desiredReplicas is not a count above 0".to_owned(), HELP))?;
        // The bounds of the autoscaler that KEDA creates.
        let bound = |name| spec.get(name).and_then(number);
        let least = bound("minReplicaCount").unwrap_or_default();
        let most = bound("maxReplicaCount").unwrap_or(100);
        Ok(Self {
            start: cron("start")?,
            end: cron("end")?,
            zone,
            count: count.max(least).min(most),
        })
    }

    fn texts(&self, low: u64) -> KeyTexts {
        let text = |cron| weekly_text(cron).unwrap_or_default();
        vec![
            (Key::Start, text(&self.start)),
            (Key::Stop, text(&self.end)),
            (Key::Timezone, self.zone.name().to_owned()),
            (Key::Replicas, self.count.to_string()),
            (Key::StopReplicas, low.to_string()),
        ]
    }

    /// Whether starts and ends alternate.
    fn alternates(&self) -> bool {
        let (Ok(start), Ok(end)) = (Times::parse(&self.start), Times::parse(&self.end)) else {
            return true;
        };
        // A leap year and the year after it.
        let year_end = NaiveDate::from_ymd_opt(2027, 12, 31).unwrap_or_default();
        let mut now = year_end.and_time(NaiveTime::MIN);
        let until = now + TimeDelta::days(750);
        let mut was_start = None;
        while now < until {
            let both = [(&end, false), (&start, true)].into_iter();
            let next =
                both.filter_map(|(times, is_start)| Some((times.next_local(now)?, is_start)));
            // If both are at the same time, KEDA sees the end.
            let Some((at, is_start)) = next.min_by_key(|next| next.0) else {
                return false;
            };
            if was_start.replace(is_start) == Some(is_start) {
                return false;
            }
            now = at;
        }
        true
    }

    /// Its counts, if it is weekly.
    fn week(&self) -> Option<WeekCounts> {
        let (starts, ends) = (minutes_of_week(&self.start)?, minutes_of_week(&self.end)?);
        Some(WeekCounts::between(&starts, &ends, self.count))
    }
}

/// The highest count of all triggers, as exact counts.
fn steps(triggers: &[Trigger], low: u64) -> Option<KeyTexts> {
    let zone = triggers.first()?.zone;
    if triggers.iter().any(|trigger| trigger.zone != zone) {
        return None;
    }
    let mut counts = WeekCounts::constant(low);
    for trigger in triggers {
        counts = counts.union(&trigger.week()?);
    }
    let text = counts.scale();
    let zone = (Key::Timezone, zone.name().to_owned());
    (!text.is_empty()).then(|| vec![(Key::Scale, text), zone])
}
