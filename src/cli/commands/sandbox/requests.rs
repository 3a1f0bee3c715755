//! `--request deploy/web@"Sat 22:00"`: requests that come while time is simulated.

use chrono::{DateTime, TimeDelta, Utc};
use clap::error::ErrorKind;
use dayshift_manifest::ManifestWorkload;
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone};
use dayshift_text::quote;
use dayshift_workload::Kind;

use crate::sandbox::{Act, UserAction};

const EXAMPLE: &str = "write for example `deploy/web@Sat 22:00`, or `dev/deploy/web@Sat 22:00`";

/// The requests that these texts ask for, each at its first time after `from`, on the clocks of a zone.
///
/// # Errors
/// A text names no workload of the files or more than one, or no time that comes.
pub(super) fn requests(
    texts: &[String],
    workloads: &[ManifestWorkload],
    from: DateTime<Utc>,
    zone: Zone,
) -> Result<Vec<UserAction>, clap::Error> {
    let one = |text: &String| request(text, workloads, from, zone).map_err(|why| usage(text, &why));
    texts.iter().map(one).collect()
}

fn request(
    text: &str,
    workloads: &[ManifestWorkload],
    from: DateTime<Utc>,
    zone: Zone,
) -> Result<UserAction, String> {
    let (object, time) = text.split_once('@').ok_or(EXAMPLE)?;
    let parts: Vec<_> = object.trim().split('/').collect();
    let (namespace, kind, name) = match *parts {
        [kind, name] => (None, kind, name),
        [namespace, kind, name] => (Some(namespace), kind, name),
        _ => return Err(EXAMPLE.to_owned()),
    };
    let kind = Kind::from_argument(kind).ok_or(EXAMPLE)?;
    let is_meant = |it: &&ManifestWorkload| {
        let object = &it.object;
        let is_there = namespace.is_none_or(|namespace| *object.namespace == *namespace);
        is_there && object.kind == kind && *object.name == *name
    };
    let mut meant = workloads.iter().filter(is_meant);
    let object = &meant.next().ok_or("no such workload is simulated")?.object;
    if let Some(other) = meant.next() {
        let namespaces = (&object.namespace, &other.object.namespace);
        let (one, two) = namespaces;
        return Err(format!(
            "it is in several namespaces: write `{one}/{text}` or `{two}/{text}`"
        ));
    }
    let times = Times::parse(time).map_err(|error| error.to_string())?;
    let rule = ScheduleRule::start_and_stop(Some(times), None);
    let times = Schedule::new(rule, ExcludedDates::default(), zone);
    let next = times.next_after(from, TimeDelta::zero());
    Ok(UserAction {
        at: next.ok_or("that time is before the simulation begins")?.at,
        kind,
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        act: Act::Request,
    })
}

fn usage(text: &str, why: &str) -> clap::Error {
    let message = format!(
        "invalid value '{}' for '--request <WORKLOAD@T>': {why}\n",
        quote(text)
    );
    clap::Error::raw(ErrorKind::ValueValidation, message)
}
