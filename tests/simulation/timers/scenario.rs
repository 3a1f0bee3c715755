//! A day with timers: its workloads and its events.
//!
//! Each kind of event has its own minutes of a quarter of an hour, so that no two kinds coincide: boundaries of
//! hours are at :00, ends of wakes at :03, and steps at :10. Durations are two minutes longer than a multiple of 15
//! minutes.

use fastrand::Rng;

/// In seconds since the midnight before.
pub(super) type Second = i64;

pub(super) const QUARTER: Second = 15 * 60;
/// When all workloads are created.
pub(super) const CREATED: Second = 6 * 3600;
/// When the controller starts.
pub(super) const BEGIN: Second = CREATED + 30;
/// At noon of the next day.
pub(super) const END: Second = 36 * 3600;
/// When hours begin and end on each day.
pub(super) const HOURS: [Second; 2] = [9 * 3600, 19 * 3600];

pub(super) const NAMESPACES: [&str; 2] = ["dev", "test"];

#[derive(Debug)]
pub(super) struct TimerDay {
    pub(super) seed: u64,
    pub(super) workloads: Vec<TimerWorkload>,
    /// The value of `stop-after` on each Namespace.
    pub(super) of_namespace: [Option<Lasts>; 2],
    /// The first value in the ConfigMap of each team.
    pub(super) of_team: [Option<Lasts>; 2],
    /// Ordered by time.
    pub(super) steps: Vec<(Second, TimerStep)>,
}

/// A Deployment.
#[derive(Debug)]
pub(super) struct TimerWorkload {
    /// An index in [`NAMESPACES`].
    pub(super) namespace: usize,
    pub(super) name: String,
    /// The count while it runs, in the manifest and in `dayshift/replicas`.
    pub(super) replicas: i32,
    pub(super) has_hours: bool,
    /// The value of its own `stop-after`.
    pub(super) own: Option<Lasts>,
}

/// A value of `stop-after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lasts {
    pub(super) text: &'static str,
    pub(super) seconds: Second,
    pub(super) since_creation: bool,
}

/// A step for the workload or the namespace with that index.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimerStep {
    /// A user starts or stops it.
    Scale(usize, bool),
    Deploy(usize),
    WakeUntil(usize, Second),
    Resume(usize),
    /// The team writes another `stop-after`, or removes it.
    TeamLasts(usize, Option<Lasts>),
    TeamWakeUntil(usize, Second),
    TeamResume(usize),
    Kill,
    Start,
}

const LASTS: [Lasts; 4] = [
    since_start("47m", 47),
    since_start("1h47m", 107),
    since_start("3h 47m", 227),
    since_start("7h17m", 437),
];

const PREVIEW: Lasts = Lasts {
    text: "16h47m since creation",
    seconds: 1007 * 60,
    since_creation: true,
};

const fn since_start(text: &'static str, minutes: Second) -> Lasts {
    Lasts {
        text,
        seconds: minutes * 60,
        since_creation: false,
    }
}

impl TimerDay {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed.wrapping_mul(83));
        let lasts = |random: &mut Rng| random.choice(LASTS).unwrap();
        let maybe = |random: &mut Rng| random.bool().then(|| lasts(random));
        let of_namespace = [(); 2].map(|()| maybe(&mut random));
        // Each workload always has a schedule.
        let of_team = of_namespace.map(|it| match it {
            Some(_) => maybe(&mut random),
            None => Some(lasts(&mut random)),
        });
        let workloads: Vec<_> = (0..random.usize(2..5))
            .map(|number| TimerWorkload {
                namespace: random.usize(..2),
                name: format!("web-{number}"),
                replicas: random.i32(1..4),
                has_hours: random.bool(),
                own: match random.u8(..5) {
                    0 | 1 => None,
                    2 => Some(PREVIEW),
                    _ => maybe(&mut random),
                },
            })
            .collect();
        // Overrides of a team and of a workload are not combined.
        let is_by_team = [(); 2].map(|()| random.bool());
        let mut steps = Vec::new();
        let mut is_down = false;
        for quarter in BEGIN / QUARTER + 1..END / QUARTER {
            if random.u8(..4) > 0 {
                continue;
            }
            let at = quarter * QUARTER + 600 + random.i64(0..20);
            let end = (quarter + random.i64(1..30)) * QUARTER + 180;
            let number = random.usize(..workloads.len());
            let namespace = workloads[number].namespace;
            let step = match random.u8(..if is_down { 6 } else { 12 }) {
                0 | 1 if is_down => TimerStep::Start,
                0 => TimerStep::Kill,
                1..=3 => TimerStep::Scale(number, random.bool()),
                4 | 5 => TimerStep::Deploy(number),
                6 | 7 if is_by_team[namespace] => TimerStep::TeamWakeUntil(namespace, end),
                6 | 7 => TimerStep::WakeUntil(number, end),
                8 if is_by_team[namespace] => TimerStep::TeamResume(namespace),
                8 => TimerStep::Resume(number),
                _ => TimerStep::TeamLasts(
                    namespace,
                    match of_namespace[namespace] {
                        Some(_) => maybe(&mut random),
                        None => Some(lasts(&mut random)),
                    },
                ),
            };
            match step {
                TimerStep::Kill => is_down = true,
                TimerStep::Start => is_down = false,
                _ => {}
            }
            steps.push((at, step));
        }
        Self {
            seed,
            workloads,
            of_namespace,
            of_team,
            steps,
        }
    }
}
