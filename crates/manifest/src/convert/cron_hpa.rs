//! Reads CronHorizontalPodAutoscalers of kubernetes-cronhpa-controller, whose jobs set counts.

use std::{collections::BTreeSet, iter::successors};

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};
use dayshift_schedule::{Times, Zone};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::{
    convert::{
        conversion::{Converter, PlacedFinding, Topic},
        document::Document,
        requests::{AnnotationRequests, RequestTarget, scale_target},
        week::{date_and_time, dates, days_of, minutes_of_week, weekly_text},
    },
    finding::Finding,
    yaml::node::{Node, Scalar},
};

/// Requests the counts that the jobs set.
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
    let mut target = scale_target(document, spec, ("", ""))?;
    // The project's examples still use old versions of the group.
    if matches!(&*target.kind, "Deployment" | "StatefulSet") {
        "apps/v1".clone_into(&mut target.api_version);
    }
    if target.kind == "HorizontalPodAutoscaler" {
        return Err(Finding::new(
            Topic::NoEquivalent,
            spec.place.clone(),
            "its target is a HorizontalPodAutoscaler, whose bounds it changes; that has no equivalent",
            "write start, stop and replicas on the workload, and let the autoscaler scale it in \
                between",
        ));
    }
    let excluded = ExcludedDays::read(spec, requests);
    let mut steps = Vec::new();
    for job in spec.list("jobs") {
        steps.extend(step(job, &excluded, requests)?);
    }
    if steps.is_empty() {
        return Ok(());
    }
    let mut texts = vec![(Key::Scale, steps.join("; "))];
    if !excluded.dates.is_empty() {
        texts.push((Key::Except, dates(&excluded.dates)));
    }
    match requests.converter.defaults.zone {
        Some(zone) => texts.push((Key::Timezone, zone.name().to_owned())),
        None => requests.report(
            Topic::ZoneOfController,
            &document.node.place,
            "its jobs use the time zone of the controller's pod, which is not in the file; now \
                they use --timezone of dayshift run",
            "give the time zone of that pod: --default-timezone Asia/Shanghai",
        ),
    }
    requests.ask(texts, vec![RequestTarget::Object(target)], Vec::new());
    requests.delete_after(document, "its controller acts until it is deleted", "");
    Ok(())
}

/// Converts one job to a step of `scale`, or to several; `None` if it is over.
fn step(
    job: &Node<'_>,
    excluded: &ExcludedDays,
    requests: &mut AnnotationRequests<'_>,
) -> Result<Option<String>, PlacedFinding> {
    let schedule = job.word("schedule");
    let now = local_now(requests.converter);
    let error =
        |message: String, help| Finding::new(Topic::NotRead, job.place.clone(), message, help);
    let cannot = |reason: &str, help| error(format!("`{}` {reason}", quote(schedule)), help);
    let size = match job.get("targetSize").and_then(Node::scalar) {
        Some(Scalar::Number(number)) => number.as_u64(),
        _ => None,
    };
    let size = size.ok_or_else(|| {
        let message = "the job has no targetSize".to_owned();
        error(message, "write how many replicas it sets")
    })?;
    let mut once = |minute: String| {
        requests.report(
            Topic::Once,
            &job.place,
            "the job runs once, and became the time of its next run",
            "remove the step after that time",
        );
        Ok(Some(format!("{minute} = {size}")))
    };
    if let Some(date) = schedule.strip_prefix("@date ") {
        let date = date.trim();
        let minute = date.strip_suffix(":00").unwrap_or(date);
        let at = NaiveDateTime::parse_from_str(minute, "%Y-%m-%d %H:%M");
        let at = at.ok().filter(|_| minute.len() == 16).ok_or_else(|| {
            cannot(
                "is not at a whole minute",
                "write for example @date 2026-10-27 21:54:00",
            )
        })?;
        if at > now {
            return once(minute.to_owned());
        }
        requests.report(
            Topic::Over,
            &job.place,
            "this time is in the past, and was left out",
            "no action is needed",
        );
        return Ok(None);
    }
    if schedule.starts_with("@every") {
        return Err(cannot(
            "is relative to the start of the controller, which has no equivalent",
            "write the times of day, such as 0 0 */2 * * *",
        ));
    }
    let nickname = fields_of(schedule);
    let times = match nickname {
        Some(_) if excluded.weekdays == 0 => Some(schedule.to_owned()),
        _ => cron(nickname.unwrap_or(schedule), excluded),
    };
    let times = times.ok_or_else(|| match excluded.weekdays {
        0 => cannot(
            "is not cron as the controller reads it",
            "write seconds, minutes, hours, day of month, month and day of week",
        ),
        _ => cannot(
            "cannot be converted without the weekdays of excludeDates",
            "write the steps manually",
        ),
    })?;
    let read = Times::parse(&times);
    let read = read.map_err(|_| cannot("has no equivalent", "write the step manually"))?;
    if job.get("runOnce").and_then(Node::scalar) == Some(Scalar::Bool(true)) {
        let next = read.next_local(now);
        let next = next.filter(|next| next.second() == 0).ok_or_else(|| {
            cannot(
                "does not occur again at a whole minute",
                "write the step manually",
            )
        })?;
        return once(date_and_time(next));
    }
    if schedule.split_whitespace().count() == 5 {
        let schedule = quote(schedule);
        requests.report(
            Topic::SecondsFirst,
            &job.place,
            format!("`{schedule}` has five fields; the controller reads the first one as seconds, and so does the converted text"),
            format!("if the first field should be minutes, write `0 {schedule}` there and convert again"),
        );
    }
    let steps = times.split("; ").map(|time| format!("{time} = {size}"));
    Ok(Some(steps.collect::<Vec<_>>().join("; ")))
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
    let mut five = [minute, hour, of_month, month, of_week].join(" ");
    if excluded.weekdays != 0 {
        let kept = days_of(&minutes_of_week(&five)?) & !excluded.weekdays;
        let days = (0..7).filter(|day| kept >> day & 1 == 1);
        let days: Vec<_> = days.map(|day: u8| ((day + 1) % 7).to_string()).collect();
        if days.is_empty() {
            return None;
        }
        five = format!("{minute} {hour} * * {}", days.join(","));
    }
    match second {
        "0" => weekly_text(&five),
        _ => Some(format!("{second} {five}")),
    }
}

/// The days on which no job runs.
#[derive(Debug, Default)]
struct ExcludedDays {
    /// Bit 0 is Monday.
    weekdays: u8,
    dates: BTreeSet<NaiveDate>,
}

/// The maximum number of dates to write out.
const MAX_DATES: usize = 200;

/// The number of years for which dates are written out.
const YEARS: i64 = 5;

impl ExcludedDays {
    fn read(spec: &Node<'_>, requests: &mut AnnotationRequests<'_>) -> Self {
        let mut excluded = Self::default();
        let except = requests.name(Key::Except);
        for item in spec.list("excludeDates") {
            let text = item.written().unwrap_or_default();
            let quoted = quote(text);
            let mut fields: Vec<_> = text.split_whitespace().collect();
            if fields.len() == 5 {
                fields.push("*");
            }
            let is_star = |field: &str| matches!(field, "*" | "?");
            let days = match fields[..] {
                [second, minute, hour, of_month, month, of_week]
                    if [second, minute, hour].into_iter().all(is_star) =>
                {
                    Times::parse(&format!("0 0 {of_month} {month} {of_week}")).ok()
                }
                _ if fields.len() == 6 || fields_of(text).is_some() => {
                    requests.report(
                        Topic::ExcludeDates,
                        &item.place,
                        format!("`{quoted}` names no whole days: the controller skips only the jobs of some hours"),
                        "dayshift skips no job; to exclude whole days, write three stars before \
                            them: * * * 15 11 *",
                    );
                    continue;
                }
                _ => None,
            };
            let Some(days) = days else {
                requests.report(
                    Topic::ExcludeDates,
                    &item.place,
                    format!(
                        "`{quoted}` is not a date that the controller reads, and excludes no job"
                    ),
                    format!("write the dates into {except} manually"),
                );
                continue;
            };
            if let Some(until) = excluded.add(&days, requests.converter) {
                requests.report(
                    Topic::ExcludeDates,
                    &item.place,
                    format!(
                        "the dates of `{quoted}` are written out up to {until}; on these dates the \
                        controller runs no job, and dayshift none that starts replicas"
                    ),
                    format!(
                        "add more dates to {except} in time; jobs that set 0 still run on them"
                    ),
                );
            }
        }
        excluded
    }

    /// Adds excluded days. Unless they are weekly, returns the year up to which their dates are
    /// written out.
    fn add(&mut self, days: &Times, converter: &Converter) -> Option<i32> {
        if let Some(minutes) = days.minutes_of_week() {
            self.weekdays |= days_of(&minutes);
            return None;
        }
        let today = converter.now.date_naive().and_time(NaiveTime::MIN);
        let until = today + TimeDelta::days(365 * YEARS);
        let first = days.next_local(today - TimeDelta::seconds(1));
        let all = successors(first, |day| days.next_local(*day));
        for day in all.take_while(|day| *day < until) {
            if self.dates.len() == MAX_DATES {
                break;
            }
            self.dates.insert(day.date());
        }
        Some(until.year())
    }
}
