//! The one back-off, on simulated time.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dayshift_cluster::delays::Delays;
use dayshift_workload::{Kind, WorkloadRef};
use tokio::time::{Instant, advance};

use crate::{
    ids::Id,
    retry::backoff::{Backoff, Key},
};

const SECOND: Duration = Duration::from_secs(1);

fn web(kind: Kind, namespace: &str) -> WorkloadRef {
    WorkloadRef {
        kind,
        namespace: namespace.into(),
        name: "web".into(),
        uid: "u".into(),
    }
}

fn dev() -> WorkloadRef {
    web(Kind::DEPLOYMENT, "dev")
}

/// How long a key is held from now on.
fn held(backoff: &Backoff, key: &Key) -> Duration {
    let until = backoff.until(key).unwrap_or_else(Instant::now);
    until.saturating_duration_since(Instant::now())
}

/// What may be tried again now.
fn released(backoff: &mut Backoff) -> Vec<Id> {
    std::iter::from_fn(|| backoff.take_released(Instant::now())).collect()
}

/// Lets time pass until something may be tried again.
async fn next_released(backoff: &mut Backoff) -> Vec<Id> {
    let next = backoff.next().unwrap();
    advance(next.saturating_duration_since(Instant::now())).await;
    released(backoff)
}

#[tokio::test(start_paused = true)]
async fn failures_in_a_row_hold_longer_and_those_under_way_together_count_once() {
    let mut backoff = Backoff::new(1);
    for full in [200, 400, 800, 1600, 3200, 5000, 5000] {
        let now = Instant::now();
        assert!(backoff.fail(Key::Server, &Delays::SERVER, None, now));
        assert!(!backoff.fail(Key::Server, &Delays::SERVER, None, now));
        let (held, full) = (held(&backoff, &Key::Server), Duration::from_millis(full));
        assert!(held >= full / 2 && held <= full, "{held:?} of {full:?}");
        assert!(backoff.is_held(&Key::Server, now));
        advance(held).await;
        assert!(!backoff.is_held(&Key::Server, Instant::now()));
    }
    assert_eq!(backoff.failures(&Key::Server), 7);
}

#[tokio::test(start_paused = true)]
async fn what_the_server_asks_for_holds_whatever_else_it_answers_meanwhile() {
    let mut backoff = Backoff::new(1);
    let key = Key::Server;
    backoff.fail(key.clone(), &Delays::SERVER, None, Instant::now());
    // One that was under way with it is asked to come back later.
    backoff.fail(
        key.clone(),
        &Delays::SERVER,
        Some(7 * SECOND),
        Instant::now(),
    );
    assert_eq!(held(&backoff, &key), 7 * SECOND);
    backoff.succeed(&key, Instant::now());
    assert_eq!(held(&backoff, &key), 7 * SECOND);
    advance(7 * SECOND).await;
    backoff.fail(key.clone(), &Delays::SERVER, None, Instant::now());
    assert_eq!(backoff.failures(&key), 1, "it has answered since");
    advance(SECOND).await;
    backoff.succeed(&key, Instant::now());
    assert_eq!(backoff.until(&key), None);
}

#[tokio::test(start_paused = true)]
async fn an_object_is_held_by_itself_and_tried_again() {
    let mut backoff = Backoff::new(1);
    for id in [1, 2] {
        backoff.fail(Key::Object(id), &Delays::OBJECT, None, Instant::now());
    }
    assert!(!backoff.is_held(&Key::Object(3), Instant::now()));
    assert_eq!(released(&mut backoff), [0; 0]);
    backoff.clear(&Key::Object(1));
    assert_eq!(next_released(&mut backoff).await, [2]);
    assert_eq!(backoff.failures(&Key::Object(2)), 1, "until it succeeds");
    backoff.fail(Key::Object(2), &Delays::OBJECT, None, Instant::now());
    assert_eq!(backoff.failures(&Key::Object(2)), 2);
    backoff.remove(2);
    assert_eq!(
        (backoff.next(), backoff.failures(&Key::Object(2))),
        (None, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_permission_is_missing_for_one_kind_of_one_namespace() {
    let mut backoff = Backoff::new(1);
    assert!(backoff.has_every_permission());
    backoff.forbid(&dev(), 1, Instant::now());
    assert!(!backoff.has_every_permission());
    assert!(!backoff.admit(&dev(), 2));
    assert!(backoff.admit(&web(Kind::STATEFUL_SET, "dev"), 3));
    assert!(backoff.admit(&web(Kind::DEPLOYMENT, "prod"), 4));
    assert_eq!(
        backoff.permit(&web(Kind::STATEFUL_SET, "dev"), 3),
        None,
        "which says nothing of Deployments"
    );
    assert_eq!(backoff.permit(&dev(), 9), Some(BTreeSet::from([1, 2])));
    assert!(backoff.has_every_permission() && backoff.admit(&dev(), 5));
}

#[tokio::test(start_paused = true)]
async fn one_object_asks_for_a_permission_at_a_time_each_in_its_turn() {
    let mut backoff = Backoff::new(1);
    // They were under way together.
    for id in [1, 2, 3] {
        assert_eq!(backoff.forbid(&dev(), id, Instant::now()), 1);
    }
    assert!(!backoff.admit(&dev(), 4));
    for (failures, asks) in [(2, 1), (3, 2), (4, 3), (5, 4), (6, 1)] {
        assert_eq!(next_released(&mut backoff).await, [asks]);
        assert!(backoff.admit(&dev(), asks) && !backoff.admit(&dev(), asks % 4 + 1));
        advance(60 * SECOND).await;
        assert_eq!(released(&mut backoff), [0; 0], "until it is answered");
        assert_eq!(backoff.forbid(&dev(), asks, Instant::now()), failures);
    }
    assert_eq!(next_released(&mut backoff).await, [2]);
    let waited = backoff.permit(&dev(), 2);
    assert_eq!(waited, Some(BTreeSet::from([1, 3, 4])));
    assert_eq!(backoff.next(), None);
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_nothing_any_more_lets_the_next_one_ask() {
    let mut backoff = Backoff::new(1);
    for id in 1..=4 {
        backoff.forbid(&dev(), id, Instant::now());
    }
    backoff.remove(4);
    assert_eq!(next_released(&mut backoff).await, [1]);
    backoff.withdraw(1);
    assert_eq!(released(&mut backoff), [2], "at once");
    backoff.remove(2);
    assert_eq!(released(&mut backoff), [3]);
    backoff.remove(3);
    assert!(backoff.has_every_permission(), "nobody asks for it");
    assert_eq!(backoff.next(), None);
}

/// The Role names the first one alone.
#[tokio::test(start_paused = true)]
async fn what_is_granted_by_name_does_not_wait_for_what_is_not() {
    let mut backoff = Backoff::new(1);
    backoff.forbid(&dev(), 2, Instant::now());
    assert!(!backoff.admit(&dev(), 1));
    assert_eq!(next_released(&mut backoff).await, [1]);
    assert_eq!(backoff.permit(&dev(), 1), Some(BTreeSet::from([2])));
    assert_eq!(backoff.forbid(&dev(), 2, Instant::now()), 1);
    assert!(backoff.admit(&dev(), 1));
    assert_eq!(backoff.permit(&dev(), 1), None, "no news");
    backoff.forbid(&dev(), 1, Instant::now());
    assert!(!backoff.admit(&dev(), 1), "it is taken away");
}

#[tokio::test(start_paused = true)]
async fn namespaces_that_come_and_go_leave_nothing_behind() {
    let mut backoff = Backoff::new(1);
    for number in 0..10_000 {
        let namespace: Arc<str> = format!("team-{number}").into();
        let object = web(Kind::DEPLOYMENT, &namespace);
        let now = Instant::now();
        backoff.fail(Key::EventNamespace(namespace), &Delays::OBJECT, None, now);
        backoff.forbid(&object, number, now);
        backoff.fail(Key::Object(number), &Delays::REFUSED, None, now);
        backoff.remove(number);
        advance(Duration::from_millis(100)).await;
        released(&mut backoff);
        // One for each of the last minute, in which no Event has failed.
        assert!(backoff.len() <= 2 * 620, "{number}: {}", backoff.len());
    }
    advance(120 * SECOND).await;
    assert_eq!((released(&mut backoff), backoff.len()), (vec![], 0));
}
