//! What each thing that happens does to both sides.

use chrono::TimeDelta;
use chrono_tz::Tz;
use dayshift::workload::{Label, Replicas};

use crate::{
    asked::Pause,
    labels::Owner,
    phase::Phase,
    run::Run,
    story::Op,
    world::{Checked, Fate},
};

impl Run {
    pub(crate) fn happen(&mut self, op: &Op) -> Checked {
        let labels = &self.oracle.object.labels;
        let alike = |phase: Phase| phase == Phase::Adopted || phase.is_held();
        let adopted_now = labels.phase.is_some_and(alike)
            && labels.last == Some(self.now.timestamp())
            && self.world.scalers.len() > 1;
        if adopted_now {
            // To the other scaler two adoptions in one second look like one.
            return Ok(());
        }
        if self.world.scalers.len() > 1 && self.oracle.corrections() > 1 && op.is_a_users() {
            // Each scaler counts for itself how often it corrects.
            return Ok(());
        }
        if matches!(op, Op::Plan(None) | Op::PlanAndStopReplicas(None, _)) {
            // And who misses what was done before that puts an older count back.
            self.lag(false)?;
        }
        match op {
            Op::Scale(count) => self.scale(*count),
            Op::Replicas(count) => self.wish(|wish| wish.replicas = *count),
            Op::StopReplicas(count) => self.wish(|wish| wish.stop_replicas = *count),
            Op::Plan(plan) => self.wish(|wish| wish.plan = *plan),
            Op::PlanAndStopReplicas(plan, count) => self.wish(|wish| {
                wish.plan = *plan;
                wish.stop_replicas = *count;
            }),
            Op::Pause(pause) => {
                let pause = pause.map(|minutes| match minutes {
                    Some(minutes) => Pause::Until(self.in_minutes(minutes)),
                    None => Pause::Forever,
                });
                self.wish(|wish| wish.pause = pause);
            }
            Op::Wake(minutes) => {
                let until = minutes.map(|minutes| self.in_minutes(minutes));
                self.wish(|wish| wish.wake = until);
            }
            Op::Sleep(minutes) => {
                let until = minutes.map(|minutes| self.in_minutes(minutes));
                self.wish(|wish| wish.sleep = until);
            }
            Op::Enforce(enforce) => self.wish(|wish| wish.enforce = *enforce),
            Op::Break(bad) => self.wish(|wish| wish.bad = Some(*bad)),
            Op::Mend => self.wish(|wish| wish.bad = None),
            Op::Copy => self.rename(),
            Op::Recreate(count) => {
                self.rename();
                self.unlabel();
                self.scale(*count);
            }
            Op::Down(scaler) => {
                self.end(*scaler)?;
            }
            Op::Up(scaler) => {
                let scaler = self.one(*scaler);
                if !self.world.runs(scaler) {
                    self.start(scaler)?;
                }
            }
            Op::Restart(scaler) => {
                let scaler = self.end(*scaler)?;
                self.start(scaler)?;
            }
            Op::RestartIn(zone) => self.restart_in(*zone)?,
            Op::Lag(lags) => self.lag(*lags)?,
            Op::Clock(minutes) => {
                self.lag(false)?;
                self.now += TimeDelta::minutes(i64::from(*minutes));
                self.world.now = self.now;
                self.world.settle()?;
                self.oracle.jump(self.now.timestamp());
            }
            Op::Outage(outage) => {
                self.world.outage = *outage;
                self.oracle.outage = *outage;
            }
            Op::Fates(fates) => self.world.fates = fates.iter().copied().collect(),
            tampering => return self.tamper(tampering),
        }
        if !self.oracle.object.wish.names_a_schedule() {
            // Who misses that a schedule was removed takes its state for lost, and heals it.
            self.lag(false)?;
        }
        self.look()
    }

    fn in_minutes(&self, minutes: i32) -> i64 {
        self.now.timestamp() + i64::from(minutes) * 60
    }

    fn one(&self, scaler: usize) -> usize {
        scaler % self.world.scalers.len()
    }

    /// Who lags alone would be the only one to look after the object, from an old view; and with
    /// a `last` that is still to come it would adopt again, later, what the other has adopted.
    fn lag(&mut self, lags: bool) -> Checked {
        let ahead = self.oracle.object.labels.last > Some(self.now.timestamp());
        if self.world.scalers.len() > 1 && self.world.runs(0) {
            self.world.scalers[1].lags = lags && !ahead;
        }
        self.world.settle()
    }

    fn start(&mut self, scaler: usize) -> Checked {
        let others = self.oracle.runs();
        self.world.start(scaler, self.oracle.zone)?;
        if !others {
            self.oracle.start(self.now.timestamp());
        }
        Ok(())
    }

    fn end(&mut self, scaler: usize) -> Result<usize, String> {
        self.lag(false)?;
        let scaler = self.one(scaler);
        self.world.end(scaler);
        if (0..self.world.scalers.len()).all(|it| !self.world.runs(it)) {
            self.oracle.end();
        }
        Ok(scaler)
    }

    fn restart_in(&mut self, zone: Tz) -> Checked {
        let scalers = 0..self.world.scalers.len();
        for scaler in scalers.clone() {
            self.end(scaler)?;
        }
        self.oracle.zone = zone;
        for scaler in scalers {
            self.start(scaler)?;
        }
        Ok(())
    }

    /// What users do to what is not theirs.
    fn tamper(&mut self, op: &Op) -> Checked {
        let several = self.world.scalers.len() > 1;
        if several {
            // Each scaler counts for itself how often it corrects, and has its own first sight
            // and its own newest `last`, which differ in what they write then.
            let own = match op {
                Op::OtherFingerprint | Op::ForeignFingerprint => true,
                Op::Last(minutes) => *minutes > 0,
                _ => self.oracle.corrections() > 1,
            };
            if own {
                return Ok(());
            }
            self.lag(false)?;
            self.world.fates.retain(|fate| *fate != Fate::AnswerLost);
        }
        let was_healed = self.is_healed();
        self.spoil(op);
        if !was_healed {
            self.world.promise.lost(&self.world.object);
        }
        self.look()
    }

    fn spoil(&mut self, op: &Op) {
        let now = self.now.timestamp();
        let written = |at: i64| {
            let at = chrono::DateTime::from_timestamp(at, 0).unwrap();
            Some(at.format("%Y-%m-%dT%H.%M.%SZ").to_string())
        };
        match op {
            Op::Undo(snapshot) => self.undo(*snapshot),
            Op::Replace(count, plan) => {
                self.scale(*count);
                self.unlabel();
                let plans = self.plans.len();
                if let Some(plan) = plan {
                    self.wish(|wish| wish.plan = plan.map(|plan| plan % plans));
                }
                if !self.oracle.object.wish.names_a_schedule() {
                    // No write of ours lets go of the count: nothing is left to remove.
                    self.world.promise.replaced(&self.world.object);
                }
            }
            Op::Restore(snapshot) => self.restore(*snapshot),
            Op::DropError => {
                self.oracle.object.error = None;
                self.world.object.error = None;
            }
            Op::Drop(label) => {
                self.oracle.object.labels.take(*label);
                self.label(*label, None);
            }
            Op::Garble(label) => {
                self.oracle.object.labels.garble(*label);
                self.label(*label, Some("v1-yesterday".into()));
            }
            Op::Saved(count) => {
                self.oracle.object.labels.take(Label::SavedReplicas);
                self.oracle.object.labels.saved = Some(*count);
                self.label(Label::SavedReplicas, Some(count.to_string()));
                self.world.promise.cut(*count);
            }
            Op::Last(minutes) => {
                let at = now + i64::from(*minutes) * 60;
                self.oracle.object.labels.take(Label::Last);
                self.oracle.object.labels.last = Some(at);
                self.label(Label::Last, written(at));
            }
            Op::Next(minutes) => {
                let at = now + i64::from(*minutes) * 60;
                self.oracle.object.labels.take(Label::Next);
                self.oracle.object.labels.next = Some(at);
                self.label(Label::Next, written(at));
            }
            Op::LaterFingerprint => self.fingerprint(Owner::Later, "v3-x"),
            Op::OtherFingerprint => self.fingerprint(Owner::Other, "v1-0123456789abcdef"),
            Op::ForeignFingerprint => {
                let owner = Owner::Of("elsewhere".into(), u32::MAX);
                self.fingerprint(owner, "v2-0123456789abcdef-0123456789abcdef");
            }
            _ => {}
        }
    }

    fn fingerprint(&mut self, owner: Owner, text: &str) {
        self.oracle.object.labels.take(Label::Fingerprint);
        self.oracle.object.labels.owner = Some(owner);
        self.label(Label::Fingerprint, Some(text.into()));
    }

    fn undo(&mut self, snapshot: usize) {
        let (then, _) = self.snapshots[snapshot % self.snapshots.len()].clone();
        if then.uid == self.oracle.object.uid {
            self.wish(|wish| *wish = then.wish);
            self.world.object.error = then.error.as_deref().map(Into::into);
            self.oracle.object.error = then.error;
            self.began(then.began);
        }
    }

    fn restore(&mut self, snapshot: usize) {
        let (then, object) = self.snapshots[snapshot % self.snapshots.len()].clone();
        if then.uid == self.oracle.object.uid {
            let was_up = self.world.object.state().saved.unwrap_or_default() == Replicas::ZERO;
            let newer = then.labels.last >= self.oracle.object.labels.last;
            self.oracle.object = then;
            self.world.object = object;
            if was_up || newer {
                self.world.promise.replaced(&self.world.object);
            }
        }
    }
}
