//! Random stories: schedules, and what happens to an object in some days of them.

use std::fmt;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use dayshift::workload::Label;
use fastrand::Rng;

use crate::{
    asked::Bad,
    calendar::{Plan, show},
    plans::{PLACES, plan},
    world::Fate,
};

pub struct Story {
    pub begin: DateTime<Utc>,
    pub days: u32,
    pub zone: Tz,
    pub plans: Vec<Plan>,
    pub scalers: usize,
    pub replicas: u32,
    /// Minutes since the beginning, and what happens then.
    pub steps: Vec<(u32, Op)>,
}

/// Something that happens. Plans, scalers and snapshots are counted in lists, and round again.
#[derive(Clone, Debug)]
pub enum Op {
    Scale(u32),
    Replicas(Option<u32>),
    StopReplicas(Option<u32>),
    Plan(Option<usize>),
    PlanAndStopReplicas(Option<usize>, Option<u32>),
    /// Until in minutes from now, also before; a pause without an end has none.
    Pause(Option<Option<i32>>),
    Wake(Option<i32>),
    Sleep(Option<i32>),
    Enforce(bool),
    Break(Bad),
    Mend,
    /// `kubectl rollout undo`: the annotations of before, and the labels of now.
    Undo(usize),
    /// `kubectl replace` with a manifest without our labels.
    Replace(u32, Option<Option<usize>>),
    /// `kubectl replace` with what `kubectl get -o yaml` once said.
    Restore(usize),
    Copy,
    Recreate(u32),
    Down(usize),
    Up(usize),
    Restart(usize),
    RestartIn(Tz),
    Lag(bool),
    Clock(i32),
    Outage(bool),
    Fates(Vec<Fate>),
    DropError,
    Drop(Label),
    Garble(Label),
    Saved(u32),
    /// In minutes from now.
    Last(i32),
    Next(i32),
    LaterFingerprint,
    OtherFingerprint,
    ForeignFingerprint,
}

/// What kind of things happen in a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Users, restarts and clocks.
    Life,
    /// Also labels that are lost, spoilt and brought back.
    Tampering,
    /// Two scalers, and requests whose answer is lost.
    Two,
}

impl Story {
    pub fn of(seed: u64, kind: Kind) -> Self {
        let mut rng = Rng::with_seed(seed);
        let (zone, dates) = rng.choice(PLACES).unwrap();
        let date: NaiveDate = rng.choice(dates).unwrap().parse().unwrap();
        let begin = (date - Days::new(rng.u64(0..5)))
            .and_hms_opt(0, 0, 0)
            .unwrap()
            .and_utc()
            + TimeDelta::minutes(rng.i64(0..1440));
        let zone = if rng.u8(..4) == 0 { Tz::UTC } else { zone };
        let days = rng.u32(3..14);
        let mut plans: Vec<_> = (0..rng.usize(1..4))
            .map(|_| plan(&mut rng, zone, begin))
            .collect();
        // An edit mostly changes one thing.
        let (first, other) = (plans[0].clone(), plan(&mut rng, zone, begin));
        plans.push(match rng.u8(..4) {
            0 => Plan {
                except: other.except,
                ..first
            },
            1 => Plan {
                zone: other.zone,
                ..first
            },
            2 => Plan {
                jitter: other.jitter,
                ..first
            },
            _ => Plan {
                style: other.style,
                ..first
            },
        });
        let mut story = Self {
            begin,
            days,
            zone,
            plans,
            scalers: if kind == Kind::Two { 2 } else { 1 },
            replicas: count(&mut rng),
            steps: Vec::new(),
        };
        story.steps = steps(&mut rng, kind, &story);
        story
    }

    /// The dates on which its calendars are painted: boundaries beyond are unknown to the oracle.
    pub fn dates(&self) -> (NaiveDate, NaiveDate) {
        let first = self.begin.date_naive() - Days::new(12);
        (
            first,
            self.begin.date_naive() + Days::new(u64::from(self.days) + 15),
        )
    }
}

impl Op {
    /// Whether a user changes the count or an annotation.
    pub fn is_a_users(&self) -> bool {
        matches!(
            self,
            Self::Scale(_)
                | Self::Replicas(_)
                | Self::StopReplicas(_)
                | Self::Plan(_)
                | Self::PlanAndStopReplicas(..)
                | Self::Pause(_)
                | Self::Wake(_)
                | Self::Sleep(_)
                | Self::Enforce(_)
                | Self::Break(_)
                | Self::Mend
        )
    }

    /// What ends a time in which little happens.
    fn undoing(&self) -> Option<Self> {
        Some(match self {
            Self::Break(_) => Self::Mend,
            Self::Plan(None)
            | Self::PlanAndStopReplicas(None, _)
            | Self::Replace(_, Some(None)) => Self::Plan(Some(0)),
            Self::Pause(Some(None)) => Self::Pause(None),
            Self::Down(scaler) => Self::Up(*scaler),
            Self::Outage(true) => Self::Outage(false),
            Self::LaterFingerprint => Self::Drop(Label::Fingerprint),
            _ => return None,
        })
    }
}

fn steps(rng: &mut Rng, kind: Kind, story: &Story) -> Vec<(u32, Op)> {
    let begin = story.begin.timestamp();
    let length = story.days * 1440;
    let minutes: Vec<u32> = story.plans[0]
        .boundaries(story.zone, story.dates(), 0)
        .into_iter()
        .filter_map(|(at, _)| u32::try_from((at - begin) / 60).ok())
        .filter(|minute| (1..length).contains(minute))
        .collect();
    let mut times: Vec<u32> = (0..rng.u32(4..40))
        .map(|_| match rng.choice(&minutes) {
            Some(minute) if rng.u8(..5) < 2 => (minute + rng.u32(0..5)).saturating_sub(2),
            _ => rng.u32(0..length),
        })
        .collect();
    times.sort_unstable();
    for next in 1..times.len() {
        if rng.u8(..5) == 0 {
            times[next] = times[next - 1];
        }
    }
    let mut steps = vec![(0, Op::Plan(Some(0)))];
    for time in times {
        let op = op(rng, kind, story.plans.len());
        // What goes wrong is mostly put right within a day or two.
        let back = time + rng.u32(1..2000);
        let undone = rng.u8(..5) != 0;
        steps.extend(op.undoing().filter(|_| undone).map(|op| (back, op)));
        steps.push((time, op));
    }
    // What is let go comes back in the end.
    let settle = [Op::Outage(false), Op::Up(0), Op::Up(1), Op::Lag(false)];
    steps.extend(settle.map(|op| (length - 1440, op)));
    steps.sort_by_key(|(time, _)| *time);
    steps
}

fn op(rng: &mut Rng, kind: Kind, plans: usize) -> Op {
    if rng.u8(..4) == 0 {
        return overlay(rng);
    }
    let common = if kind == Kind::Life { 40 } else { 32 };
    match rng.u8(..common + 16) {
        0..=7 => Op::Scale(count(rng)),
        8..=9 => Op::Replicas(maybe(rng, 1..5)),
        10..=14 => Op::Plan((rng.u8(..5) != 0).then(|| rng.usize(..plans))),
        15..=17 => Op::Break(rng.choice(Bad::ALL).unwrap()),
        18..=21 => Op::Mend,
        22 => Op::Copy,
        23 => Op::Recreate(count(rng)),
        24..=25 => Op::Down(rng.usize(..2)),
        26..=28 => Op::Up(rng.usize(..2)),
        29 => Op::Restart(rng.usize(..2)),
        30 => Op::RestartIn(PLACES[rng.usize(..PLACES.len())].0),
        31 => Op::Undo(rng.usize(..99)),
        at if at >= 32 && kind == Kind::Life && at < 40 => Op::Scale(count(rng)),
        _ => special(rng, kind),
    }
}

fn overlay(rng: &mut Rng) -> Op {
    let until = |rng: &mut Rng| match rng.u8(..8) {
        0 => rng.i32(-200..1),
        1..=2 => rng.i32(1..5),
        3..=5 => rng.i32(1..600),
        _ => rng.i32(600..6000),
    };
    match rng.u8(..10) {
        0..=2 => Op::Wake((rng.u8(..4) != 0).then(|| until(rng))),
        3..=5 => Op::Sleep((rng.u8(..4) != 0).then(|| until(rng))),
        6..=7 => Op::Pause((rng.u8(..4) != 0).then(|| rng.bool().then(|| until(rng)))),
        _ => Op::Enforce(rng.bool()),
    }
}

fn special(rng: &mut Rng, kind: Kind) -> Op {
    let clock = match rng.u8(..3) {
        0 => rng.i32(-90..90),
        1 => rng.i32(-10..10),
        _ => rng.i32(-2880..2880),
    };
    let label = rng.choice(Label::ALL).unwrap();
    match (kind, rng.u8(..16)) {
        (_, 0) => Op::Clock(clock),
        (Kind::Two, 1..=3) => Op::Lag(rng.u8(..3) != 0),
        (Kind::Two, 4..=7) => {
            let fates = [Fate::Fine, Fate::Lost, Fate::AnswerLost];
            Op::Fates(
                (0..rng.usize(1..6))
                    .map(|_| rng.choice(fates).unwrap())
                    .collect(),
            )
        }
        (Kind::Life | Kind::Tampering, 1..=2) => Op::Outage(true),
        (Kind::Life | Kind::Tampering, 3..=5) => Op::Outage(false),
        (Kind::Life | Kind::Tampering, 6..=7) => Op::StopReplicas(maybe(rng, 1..3)),
        (Kind::Life, 8) => Op::PlanAndStopReplicas(Some(1), maybe(rng, 1..3)),
        (Kind::Life, 9) => Op::PlanAndStopReplicas(None, maybe(rng, 1..3)),
        (Kind::Life, _) => Op::Restart(0),
        (_, 8) => Op::Replace(
            count(rng),
            rng.bool().then(|| rng.bool().then(|| rng.usize(..4))),
        ),
        (_, 9) => Op::Restore(rng.usize(..99)),
        (_, 10) => Op::Drop(label),
        (_, 11) => Op::Garble(label),
        (_, 12) => Op::Saved(rng.u32(..9)),
        (_, 13) => Op::Last(
            rng.choice([-4000, -300, -60, 0, 1, 30, 59, 61, 200])
                .unwrap(),
        ),
        (_, 14) => Op::Next(rng.choice([-300, -60, 0, 30, 200, 4000]).unwrap()),
        (Kind::Tampering, _) => {
            let ops = [
                Op::LaterFingerprint,
                Op::OtherFingerprint,
                Op::ForeignFingerprint,
                Op::DropError,
            ];
            rng.choice(ops).unwrap()
        }
        _ => Op::DropError,
    }
}

fn count(rng: &mut Rng) -> u32 {
    rng.choice([0, 0, 0, 1, 1, 2, 3, 5, 8]).unwrap()
}

fn maybe(rng: &mut Rng, range: std::ops::Range<u32>) -> Option<u32> {
    rng.bool().then(|| rng.u32(range))
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = show(self.begin.timestamp());
        writeln!(
            f,
            "{begin}, {} days, {}, {} replicas",
            self.days, self.zone, self.replicas
        )?;
        for (number, plan) in self.plans.iter().enumerate() {
            writeln!(f, "  plan {number}: {:?}", plan.texts())?;
        }
        for (minute, op) in &self.steps {
            let at = self.begin.timestamp() + i64::from(*minute) * 60;
            writeln!(f, "  {minute:5} {} {op:?}", show(at))?;
        }
        Ok(())
    }
}
