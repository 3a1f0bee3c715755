//! Reads CronHorizontalPodAutoscalers of kubernetes-cronhpa-controller, whose jobs set counts.

use std::{collections::BTreeSet, iter::successors};

use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta};
use dayshift_schedule::{Times, Zone};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::{
    convert::{
        conversion::{Converter, ObjectRef, Topic},
        desired::dates,
        document::Document,
        requests::{AnnotationRequests, RequestTarget},
        week::{days_of, minutes_of_week, weekly_text},
    },
    yaml::node::{Location, Node, Scalar},
};

const TOOL: &str = "kubernetes-cronhpa-controller";

/// Requests the counts that the jobs set.
pub(crate) fn convert(
    document: &Document<'_>,
    converter: &Converter,
    requests: &mut AnnotationRequests<'_>,
) {
    let Some(spec) = document.node.get("spec") else {
        return;
    };
    let Some(target) = target(spec, &document.object.namespace) else {
        requests.report(
            Topic::NotRead,
            &spec.place,
            "its scaleTargetRef has no name that is text",
            "name the workload in scaleTargetRef",
        );
        return;
    };
    if target.kind == "HorizontalPodAutoscaler" {
        requests.report(
            Topic::NoEquivalent,
            &spec.place,
            "its target is a HorizontalPodAutoscaler, whose bounds it changes; that has no equivalent",
            "write start, stop and replicas on the workload, and let the autoscaler scale it in \
                between",
        );
        return;
    }
    requests.report_unknown(TOOL, spec, "scaleTargetRef excludeDates jobs");
    let excluded = ExcludedDays::read(spec, converter, requests);
    let mut items = Vec::new();
    for job in spec.list("jobs") {
        requests.report_unknown(TOOL, job, "name schedule targetSize runOnce");
        match item(job, &excluded, converter) {
            Ok(JobStep::Each(item)) => {
                items.push(item);
                let schedule = job.word("schedule");
                if schedule.split_whitespace().count() == 5 {
                    let schedule = quote(schedule);
                    requests.report(
                        Topic::SecondsFirst,
                        &job.place,
                        format!("`{schedule}` has five fields; the controller reads the first one as seconds, and so does the converted text"),
                        format!("if the first field should be minutes, write `0 {schedule}` \
                            there and convert again"),
                    );
                }
            }
            Ok(JobStep::Once(item)) => {
                items.push(item);
                requests.report(
                    Topic::Once,
                    &job.place,
                    "the job runs once, and became the time of its next run",
                    "remove the step after that time",
                );
            }
            Ok(JobStep::Over) => requests.report(
                Topic::Over,
                &job.place,
                "this time is in the past, and was left out",
                "no action is needed",
            ),
            Err((message, help)) => {
                requests.report(Topic::NotRead, &job.place, message, help);
                return;
            }
        }
    }
    if items.is_empty() {
        return;
    }
    let mut texts = vec![(Key::Scale.name(), items.join("; "))];
    if !excluded.dates.is_empty() {
        texts.push((Key::Except.name(), dates(&excluded.dates)));
    }
    match converter.defaults.zone {
        Some(zone) => texts.push((Key::Timezone.name(), zone.name().to_owned())),
        None => requests.report(
            Topic::ZoneOfController,
            &document.node.place,
            "its jobs use the time zone of the controller's pod, which is not in the file; now \
                they use --timezone of dayshift run",
            "give the time zone of that pod: --default-timezone Asia/Shanghai",
        ),
    }
    requests.ask(RequestTarget::Object(target), texts, "");
    requests.delete_after(document, "its controller acts until it is deleted", "");
}

fn target(spec: &Node<'_>, namespace: &str) -> Option<ObjectRef> {
    let of = spec.get("scaleTargetRef")?;
    let text = |name| of.get(name).and_then(Node::text).unwrap_or_default();
    let kind = text("kind");
    // The project's examples still use old versions of the group.
    let api_version = match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        _ => text("apiVersion"),
    };
    let name = text("name");
    (!name.is_empty()).then(|| ObjectRef {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

type JobError = (String, &'static str);

/// The converted job.
enum JobStep {
    /// A step that repeats.
    Each(String),
    /// A step at one date and time.
    Once(String),
    /// A date and time in the past.
    Over,
}

/// Converts one job.
fn item(
    job: &Node<'_>,
    excluded: &ExcludedDays,
    converter: &Converter,
) -> Result<JobStep, JobError> {
    let schedule = job.word("schedule");
    let size = match job.get("targetSize").and_then(Node::scalar) {
        Some(Scalar::Number(number)) => number.as_u64(),
        _ => None,
    };
    let Some(size) = size else {
        return Err((
            "the job has no targetSize".to_owned(),
            "write how many replicas it sets",
        ));
    };
    let cannot = |reason: &str| format!("`{}` {reason}", quote(schedule));
    if let Some(date) = schedule.strip_prefix("@date ") {
        let moment = date.trim();
        let minute = moment.strip_suffix(":00").unwrap_or(moment);
        let read = NaiveDateTime::parse_from_str(minute, "%Y-%m-%d %H:%M");
        return match read.ok().filter(|_| minute.len() == 16) {
            Some(at) if at <= local_now(converter) => Ok(JobStep::Over),
            Some(_) => Ok(JobStep::Once(format!("{minute} = {size}"))),
            None => Err((
                cannot("is not at a whole minute"),
                "write for example @date 2026-10-27 21:54:00",
            )),
        };
    }
    if schedule.starts_with("@every") {
        return Err((
            cannot("is relative to the start of the controller, which has no equivalent"),
            "write the times of day, such as 0 0 */2 * * *",
        ));
    }
    let nickname = fields_of(schedule);
    let times = match nickname {
        Some(_) if excluded.weekdays == 0 => schedule.to_owned(),
        _ => {
            let fields = nickname.unwrap_or(schedule);
            cron(fields, excluded).ok_or_else(|| match excluded.weekdays {
                0 => (
                    cannot("is not cron as the controller reads it"),
                    "write seconds, minutes, hours, day of month, month and day of week",
                ),
                _ => (
                    cannot("cannot be converted without the weekdays of excludeDates"),
                    "write the steps manually",
                ),
            })?
        }
    };
    let Ok(read) = Times::parse(&times) else {
        return Err((cannot("has no equivalent"), "write the step manually"));
    };
    let is_once = job.get("runOnce").and_then(Node::scalar) == Some(Scalar::Bool(true));
    if !is_once {
        let items = times.split("; ").map(|time| format!("{time} = {size}"));
        return Ok(JobStep::Each(items.collect::<Vec<_>>().join("; ")));
    }
    let next = read.next_local(local_now(converter));
    let Some(next) = next.filter(|next| next.format("%S").to_string() == "00") else {
        return Err((
            cannot("does not occur again at a whole minute"),
            "write the step manually",
        ));
    };
    let moment = next.format("%Y-%m-%d %H:%M");
    Ok(JobStep::Once(format!("{moment} = {size}")))
}

/// The current time on the controller's clock.
fn local_now(converter: &Converter) -> NaiveDateTime {
    let zone = converter.defaults.zone.unwrap_or(Zone::UTC);
    converter.now.with_timezone(&zone).naive_local()
}

/// The six fields that a nickname abbreviates.
fn fields_of(nickname: &str) -> Option<&'static str> {
    match nickname {
        "@yearly" | "@annually" => Some("0 0 0 1 1 *"),
        "@monthly" => Some("0 0 0 1 * *"),
        "@weekly" => Some("0 0 0 * * 0"),
        "@daily" | "@midnight" => Some("0 0 0 * * *"),
        "@hourly" => Some("0 0 * * * *"),
        _ => None,
    }
}

/// Converts six fields with seconds first, of which the last can be missing, without the excluded
/// days of the week.
fn cron(schedule: &str, excluded: &ExcludedDays) -> Option<String> {
    let mut fields: Vec<_> = schedule.split_whitespace().collect();
    if fields.len() == 5 {
        fields.push("*");
    }
    let [second, minute, hour, of_month, month, of_week] = fields[..] else {
        return None;
    };
    // The controller treats `*/2` as a star beside the other field of days; dayshift does not.
    let has_star_step = |field: &str| field.starts_with("*/") || field.starts_with("?/");
    let is_star = |field: &str| matches!(field, "*" | "?");
    if has_star_step(of_month) && !is_star(of_week) || has_star_step(of_week) && !is_star(of_month)
    {
        return None;
    }
    let five = [minute, hour, of_month, month, of_week];
    if excluded.weekdays == 0 {
        return if second == "0" {
            weekly_text(&five.join(" "))
        } else {
            Some(fields.join(" "))
        };
    }
    let kept = days_of(&minutes_of_week(&five.join(" "))?) & !excluded.weekdays;
    let days = (1..=7).filter(|day| kept >> (day - 1) & 1 == 1);
    let days: Vec<_> = days.map(|day: u8| (day % 7).to_string()).collect();
    if days.is_empty() {
        return None;
    }
    let days = days.join(",");
    let five = [minute, hour, "*", "*", &days].join(" ");
    if second == "0" {
        weekly_text(&five)
    } else {
        Some(format!("{second} {five}"))
    }
}

/// The days on which no job runs.
#[derive(Debug, Default)]
struct ExcludedDays {
    /// Bit 0 is Monday.
    weekdays: u8,
    dates: BTreeSet<NaiveDate>,
}

const NO_DATE: &str = "is not a date that the controller reads, and excludes no job";

fn manual_help(requests: &AnnotationRequests<'_>) -> String {
    format!(
        "write the dates into {} manually",
        requests.name(Key::Except)
    )
}

/// The maximum number of dates to write out.
const MAX_DATES: usize = 200;

/// The number of years for which dates are written out.
const YEARS: i64 = 5;

impl ExcludedDays {
    fn read(spec: &Node<'_>, converter: &Converter, requests: &mut AnnotationRequests<'_>) -> Self {
        let mut excluded = Self::default();
        for item in spec.list("excludeDates") {
            let text = item.written().unwrap_or_default();
            let mut fields: Vec<_> = text.split_whitespace().collect();
            if fields.len() == 5 {
                fields.push("*");
            }
            let is_star = |field: &&str| matches!(*field, "*" | "?");
            let (message, help) = match fields[..] {
                [second, minute, hour, ref days @ ..]
                    if days.len() == 3 && [second, minute, hour].iter().all(is_star) =>
                {
                    excluded.add(text, days, &item.place, converter, requests);
                    continue;
                }
                _ if fields.len() == 6 || fields_of(text).is_some() => (
                    "names no whole days: the controller skips only the jobs of some hours",
                    "dayshift skips no job; to exclude whole days, write three stars before \
                        them: * * * 15 11 *"
                        .to_owned(),
                ),
                _ => (NO_DATE, manual_help(requests)),
            };
            requests.report(
                Topic::ExcludeDates,
                &item.place,
                format!("`{}` {message}", quote(text)),
                help,
            );
        }
        excluded
    }

    /// Adds an excluded day of month, month and day of week.
    fn add(
        &mut self,
        text: &str,
        days: &[&str],
        place: &Location,
        converter: &Converter,
        requests: &mut AnnotationRequests<'_>,
    ) {
        let midnights = format!("0 0 {}", days.join(" "));
        if let Some(minutes) = minutes_of_week(&midnights) {
            self.weekdays |= days_of(&minutes);
            return;
        }
        let text = quote(text);
        let Ok(days) = Times::parse(&midnights) else {
            let help = manual_help(requests);
            requests.report(
                Topic::ExcludeDates,
                place,
                format!("`{text}` {NO_DATE}"),
                help,
            );
            return;
        };
        let today = converter.now.date_naive().and_time(Default::default());
        let until = today + TimeDelta::days(365 * YEARS);
        let first = days.next_local(today - TimeDelta::seconds(1));
        let all = successors(first, |day| days.next_local(*day));
        let dates = all.take_while(|day| *day < until).map(|day| day.date());
        let room = MAX_DATES.saturating_sub(self.dates.len());
        let new: Vec<_> = dates
            .filter(|date| !self.dates.contains(date))
            .take(room)
            .collect();
        self.dates.extend(new);
        requests.report(
            Topic::ExcludeDates,
            place,
            format!(
                "the dates of `{text}` are written out up to {}; on these dates the \
                controller runs no job, and dayshift none that starts replicas",
                until.year()
            ),
            format!(
                "add more dates to {} in time; jobs that set 0 still run on \
                them",
                requests.name(Key::Except)
            ),
        );
    }
}
