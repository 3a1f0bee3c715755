//! What a running scaler has in mind of an object, beside what the object itself says.

use crate::{
    asked::Asked,
    calendar::Plan,
    labels::{Labels, Owner},
    oracle::HOUR,
    phase::Phase,
};

/// The object as it stands on the server.
#[derive(Clone, Debug)]
pub struct Object {
    pub uid: u32,
    pub replicas: u32,
    pub wish: Asked,
    pub labels: Labels,
    pub error: Option<String>,
    /// The annotation that says when an override began.
    pub began: Option<i64>,
}

/// What a running scaler has in mind of the object.
#[derive(Clone, Debug)]
pub struct Mind {
    pub uid: u32,
    pub known: Labels,
    pub wish: Asked,
    pub seen: i64,
    /// What was asked for when it wrote last.
    pub asked: Option<Demand>,
    pub corrections: u32,
}

/// What annotations come to at an instant: who writes twice for the same one corrects somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    Nothing,
    Complaint(String),
    Schedule(String, Option<(Phase, Option<i64>)>),
}

impl Mind {
    pub fn of(object: &Object, now: i64) -> Self {
        let known = match object.labels.owner {
            Some(Owner::Later) => Labels::default(),
            _ => object.labels.read(),
        };
        Self {
            uid: object.uid,
            known,
            wish: object.wish.clone(),
            seen: now,
            asked: None,
            corrections: 0,
        }
    }

    /// What is running already needs no count kept for it.
    pub fn after_removal(&self, object: &Object) -> Labels {
        Labels {
            saved: self.known.saved.filter(|saved| *saved > object.replicas),
            ..Labels::default()
        }
    }

    /// Rule 9: what is known stands in for what went backwards or far ahead, or vanished.
    pub fn newest(&self, object: &Object, plans: &[Plan], now: i64) -> Labels {
        let (known, mut shown) = (self.known.clone(), object.labels.read());
        let Some(last) = known.last else { return shown };
        let ahead = |at: i64| at > now + HOUR;
        if ahead(last) && shown.last.is_some_and(|at| !ahead(at)) {
            return shown;
        }
        let is_of_this =
            |labels: &Labels| matches!(labels.owner, Some(Owner::Of(_, uid)) if uid == object.uid);
        if is_of_this(&shown) && !is_of_this(&known) {
            return shown;
        }
        if shown.last == Some(last) {
            // The owner of what has not changed is who it was, and who puts a phase alone on an
            // object is no scaler; but another scaler may have done something else that second.
            let owner = Owner::Of(object.wish.schedule_text(plans), object.uid);
            if known.owner.as_ref() == Some(&owner) {
                shown.owner = known.owner.clone();
            }
            let phase = shown.phase.filter(|phase| Some(*phase) != known.phase);
            shown.phase = known.phase;
            if phase.is_none() || shown == known {
                return Labels {
                    phase: known.phase.or(phase),
                    ..shown.filled_from(known)
                };
            }
            shown.phase = phase;
            return shown;
        }
        if shown
            .last
            .is_some_and(|at| at > last && (ahead(last) || !ahead(at)))
        {
            return shown;
        }
        let down = object.replicas <= object.wish.stop_count();
        Labels {
            // A count too many does less harm than one too few.
            saved: match known.saved {
                Some(0) | None if down && shown.saved.is_some() => shown.saved,
                saved => saved,
            },
            ..known
        }
    }
}
