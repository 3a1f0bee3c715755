//! A morning: its objects and its events.

use fastrand::Rng;

/// In seconds of the day.
pub(super) type Second = i64;

pub(super) const NINE: Second = 9 * 3600;
/// The end of the morning.
pub(super) const END: Second = NINE + 50 * 60;

/// The objects, and the steps from a minute before nine on.
#[derive(Debug)]
pub(super) struct Morning {
    pub(super) seed: u64,
    pub(super) max_starting: Option<usize>,
    pub(super) objects: Vec<MorningWorkload>,
    /// Ordered by time.
    pub(super) steps: Vec<(Second, MorningStep)>,
}

/// A Deployment.
#[derive(Clone, Debug)]
pub(super) struct MorningWorkload {
    pub(super) namespace: &'static str,
    pub(super) name: String,
    pub(super) replicas: i32,
    pub(super) start: Second,
    /// The value of `dayshift/after`; empty if missing.
    pub(super) after: String,
    /// The value of `dayshift/ready-within`, also in seconds.
    pub(super) ready_within: Option<(&'static str, Second)>,
    /// The time from a start to readiness in milliseconds; `None` if it never becomes ready.
    pub(super) ready_after: Option<u64>,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) enum MorningStep {
    Kill,
    Start,
    WakeUntil(usize, Second),
    SleepUntil(usize, Second),
    Resume(usize),
    /// Sets other hours.
    Hours(usize, Second),
    Delete(usize),
    /// Changes a field that concerns no controller.
    Touch(usize),
    /// Makes the object unready for this many seconds, if it was ready.
    Flicker(usize, u64),
    /// The server denies each patch of the object until this time.
    Refuse(usize, Second),
}

impl Morning {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed.wrapping_mul(77));
        let count = random.usize(2..10);
        let namespaces = random.usize(1..=2);
        let places: Vec<_> = (0..count)
            .map(|number| {
                (
                    ["dev", "test"][random.usize(..namespaces)],
                    format!("web-{number}"),
                )
            })
            .collect();
        let objects = (0..count)
            .map(|number| MorningWorkload::of(&mut random, &places, number))
            .collect();
        let mut steps = Vec::new();
        let mut at = NINE - 50;
        for _ in 0..random.usize(..8) {
            at += random.i64(1..400);
            let workload = random.usize(..count);
            let later = at + random.i64(5..1500);
            let step = match random.u8(..12) {
                0 | 1 => {
                    steps.push((at, MorningStep::Kill));
                    at += random.i64(1..120);
                    (at, MorningStep::Start)
                }
                2 | 3 => (at, MorningStep::WakeUntil(workload, later)),
                4 => (at, MorningStep::SleepUntil(workload, later)),
                5 => (at, MorningStep::Resume(workload)),
                6 => (
                    at,
                    MorningStep::Hours(workload, NINE + 60 * random.i64(-30..30)),
                ),
                7 => (at, MorningStep::Delete(workload)),
                8 => (at, MorningStep::Touch(workload)),
                9 | 10 => (at, MorningStep::Flicker(workload, random.u64(1..90))),
                _ => (at, MorningStep::Refuse(workload, later)),
            };
            steps.push(step);
        }
        Self {
            seed,
            max_starting: random.bool().then(|| random.usize(1..4)),
            objects,
            steps,
        }
    }
}

impl MorningWorkload {
    fn of(random: &mut Rng, places: &[(&'static str, String)], number: usize) -> Self {
        let (namespace, name) = places[number].clone();
        let others = places.iter().filter(|it| it.0 == namespace);
        let mut named = Vec::new();
        for (_, other) in others {
            // Most objects depend on earlier ones, so that few cycles occur.
            let is_likely = *other < name || random.u8(..20) == 0;
            if is_likely && random.u8(..3) == 0 {
                named.push(format!("deploy/{other}"));
            }
        }
        if random.u8(..12) == 0 {
            named.push("deploy/nothing".to_owned());
        }
        let mut after = named.join("; ");
        let within = random.choice(["", "", ", 30s", ", 2m", ", 20m"]).unwrap();
        if !after.is_empty() {
            after += within;
        }
        let ready_within = [
            None,
            None,
            Some(("1m", 60)),
            Some(("0", 600)),
            Some(("3m", 180)),
            // At most the controller's 10 min, after which a slot is released.
            Some(("20m", 600)),
        ];
        Self {
            namespace,
            name,
            replicas: random.i32(1..4),
            start: if random.u8(..3) == 0 {
                NINE + 60 * random.i64(0..15)
            } else {
                NINE
            },
            after,
            ready_within: random.choice(ready_within).unwrap(),
            ready_after: (random.u8(..7) > 0).then(|| random.u64(500..200_000)),
        }
    }
}
