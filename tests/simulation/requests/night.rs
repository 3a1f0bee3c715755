//! A night: its objects and its events.

use fastrand::Rng;

/// The objects, and the steps from 18:00 on.
#[derive(Debug)]
pub(super) struct Night {
    pub(super) seed: u64,
    pub(super) objects: Vec<NightWorkload>,
    /// Each step, and the seconds before it.
    pub(super) steps: Vec<(u64, NightStep)>,
}

/// A Deployment with a Service of the same name.
#[derive(Clone, Debug)]
pub(super) struct NightWorkload {
    pub(super) namespace: &'static str,
    pub(super) name: String,
    /// The value of `dayshift/wake-on-request`.
    pub(super) wake: Option<&'static str>,
    /// The names in its `dayshift/after`.
    pub(super) after: Vec<String>,
    /// Whether requests for `/healthz` must not wake it.
    pub(super) ignores_health: bool,
    /// Whether requests for `/ping` get a 200 while it is stopped.
    pub(super) answers_ping: bool,
}

/// A step for the object with that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NightStep {
    Request(usize, Client),
    Pause(usize),
    /// Removes every override.
    Resume(usize),
    /// The activator is killed, and restarted.
    Restart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Browser,
    /// A browser that requests `/healthz`.
    Health,
    /// `kube-probe`.
    Probe,
    /// A browser that requests `/ping`.
    Heartbeat,
}

impl Night {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed.wrapping_mul(79));
        let count = random.usize(1..6);
        let mut objects: Vec<NightWorkload> = Vec::new();
        for number in 0..count {
            let wakes = [
                None,
                Some("3m"),
                Some("15m"),
                Some("15m"),
                Some("4m; 17:00-18:05"),
                Some("2m; while-used"),
                Some("10m; while-used"),
                Some("4m; while-used; 17:00-18:20"),
            ];
            let namespace = ["dev", "dev", "test"][random.usize(..3)];
            let others = objects.iter().filter(|it| it.namespace == namespace);
            let others: Vec<_> = others.map(|it| it.name.clone()).collect();
            objects.push(NightWorkload {
                namespace,
                name: format!("web-{number}"),
                wake: random.choice(wakes).unwrap(),
                after: others.into_iter().filter(|_| random.bool()).collect(),
                ignores_health: random.bool(),
                answers_ping: random.bool(),
            });
        }
        let steps = (0..random.usize(3..12)).map(|_| {
            let number = random.usize(..count);
            let step = match random.u8(..10) {
                0 => NightStep::Pause(number),
                1 => NightStep::Resume(number),
                2 => NightStep::Restart,
                3 => NightStep::Request(number, Client::Probe),
                4 => NightStep::Request(number, Client::Health),
                5 => NightStep::Request(number, Client::Heartbeat),
                _ => NightStep::Request(number, Client::Browser),
            };
            (random.u64(20..400), step)
        });
        Self {
            seed,
            steps: steps.collect(),
            objects,
        }
    }
}
