//! What a running scaler has in mind of an object, beside what the object itself says.

use crate::{
    asked::Asked,
    labels::{Labels, Owner},
};

/// The object as it stands on the server.
#[derive(Clone, Debug)]
pub struct Object {
    pub uid: u32,
    pub replicas: u32,
    pub wish: Asked,
    pub labels: Labels,
    pub error: Option<String>,
}

/// What a running scaler has in mind of the object.
#[derive(Clone, Debug)]
pub struct Mind {
    pub uid: u32,
    pub known: Labels,
    pub error: Option<String>,
    /// The `next` that was last written on purpose.
    pub next: Option<i64>,
    /// The stop count when `last` was written.
    pub stop: u32,
    pub wish: Asked,
    pub seen: i64,
    pub corrections: u32,
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
            error: object.error.clone(),
            next: object.labels.read().next,
            stop: object.wish.stop_count(),
            wish: object.wish.clone(),
            seen: now,
            corrections: 0,
        }
    }

    /// An edit may have lowered the stop count since the stop.
    pub fn is_down(&self, object: &Object) -> bool {
        object.replicas <= object.wish.stop_count().max(self.stop)
    }

    /// What is running already needs no count kept for it.
    pub fn after_removal(&self, object: &Object) -> Labels {
        let saved = self.known.saved.filter(|saved| *saved > object.replicas);
        Labels {
            saved: saved.filter(|_| self.is_down(object)),
            ..Labels::default()
        }
    }

    /// Rule 9: what is known stands in for what went backwards or vanished.
    pub fn newest(&self, object: &Object) -> Labels {
        let (known, shown) = (self.known.clone(), object.labels.read());
        let down = self.is_down(object);
        match (shown.last, known.last) {
            (_, None) => shown,
            (Some(shown_last), Some(last)) if shown_last > last => shown,
            (Some(shown_last), Some(last)) if shown_last == last => {
                // Another scaler may have done something else in the same second.
                let other = shown.phase.is_some() && shown.phase != known.phase;
                if other {
                    shown
                } else {
                    shown.filled_from(known)
                }
            }
            _ => Labels {
                // A count too many does less harm than one too few.
                saved: known.saved.or(shown.saved.filter(|_| down)),
                ..known
            },
        }
    }
}
