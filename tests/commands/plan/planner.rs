//! The planner for live workloads, compared with the controller.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::plan::{Period, Planner};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Inputs, Key, Kind, KindTable, Label, Labels, Observed, ParsedInputs, Prefix, Replicas,
    WorkloadRef, read,
};
use proptest::prelude::*;

#[test]
fn a_live_plan_knows_the_count_after_a_start() {
    let from: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
    let planner = Planner {
        period: Period::new(from, from + TimeDelta::days(1)).unwrap(),
        context: Zone::UTC.into(),
        prefix: Prefix::default(),
    };
    let inputs = Inputs::default().with(Key::Hours, "09:00-19:00");
    for (seen, state, saved, expected) in [
        (0, Some("stopped"), Some("3"), 3),
        (1, Some("stopped"), Some("3"), 3),
        (6, Some("stopped"), Some("3"), 6),
        (4, Some("running"), None, 4),
        (0, Some("running"), None, 0), // a user turned it off
        (0, None, None, 1),
    ] {
        let mut labels = Labels::default();
        labels.set(Label::State, state.map(str::to_owned));
        labels.set(Label::SavedReplicas, saved.map(str::to_owned));
        let observed = Observed {
            object: WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "dev".into(),
                name: "web".into(),
                uid: "".into(),
            },
            replicas: Replicas::new(seen),
            count_field: dayshift_workload::CountField::Present,
            footprint: dayshift_workload::Footprint::for_kind(&Kind::DEPLOYMENT),
            readiness: dayshift_workload::Readiness::default(),
            created: DateTime::UNIX_EPOCH,
            revision: None,
            inputs: inputs.clone(),
            labels,
            error: None,
            override_began: None,
            inherited: None,
            has_labels: true,
            has_annotations: true,
            deleting: false,
        };
        let plan = planner.plan_live(&observed).unwrap();
        let counts: Vec<_> = plan.boundaries().map(|it| it.replicas).collect();
        let expected = [Some(Replicas::new(expected)), Some(Replicas::ZERO)];
        assert_eq!(counts, expected, "{seen} {state:?} {saved:?}");
    }

    // An override that `kubectl rollout undo` restored has no effect.
    for (began, expected) in [(None, 0), (Some("2026-01-01T00:00:00Z"), 2)] {
        let until = from + TimeDelta::days(2);
        let inputs = inputs.clone().with(Key::Pause, &until.to_rfc3339());
        let observed = Observed {
            object: WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "dev".into(),
                name: "web".into(),
                uid: "".into(),
            },
            replicas: Replicas::ONE,
            count_field: dayshift_workload::CountField::Present,
            footprint: dayshift_workload::Footprint::for_kind(&Kind::DEPLOYMENT),
            readiness: dayshift_workload::Readiness::default(),
            created: DateTime::UNIX_EPOCH,
            revision: None,
            inputs,
            labels: Labels::default(),
            error: None,
            override_began: began.map(Into::into),
            inherited: None,
            has_labels: true,
            has_annotations: true,
            deleting: false,
        };
        let plan = planner.plan_live(&observed).unwrap();
        let applied = plan.boundaries().filter(|it| it.applied).count();
        assert_eq!(applied, expected, "{began:?}");
    }
}

/// The schema of this kind has no `spec.replicas`.
#[test]
fn does_not_plan_a_kind_without_counts() {
    let from: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
    let planner = Planner {
        period: Period::new(from, from + TimeDelta::days(1)).unwrap(),
        context: Zone::UTC.into(),
        prefix: Prefix::default(),
    };
    let observed = Observed {
        object: WorkloadRef {
            kind: KindTable::default().resource("planes", "paper.example.com"),
            namespace: "dev".into(),
            name: "web".into(),
            uid: "".into(),
        },
        replicas: Replicas::ONE,
        count_field: dayshift_workload::CountField::Missing,
        footprint: dayshift_workload::Footprint::for_kind(&Kind::DEPLOYMENT),
        readiness: dayshift_workload::Readiness::default(),
        created: DateTime::UNIX_EPOCH,
        revision: None,
        inputs: Inputs::default().with(Key::Hours, "09:00-19:00"),
        labels: Labels::default(),
        error: None,
        override_began: None,
        inherited: None,
        has_labels: true,
        has_annotations: true,
        deleting: false,
    };
    let plan = planner.plan_live(&observed).unwrap();
    assert_eq!(plan.boundaries().count(), 0);
    let [problem] = plan.problems() else {
        panic!("{plan:?}");
    };
    assert_eq!(problem.annotation, "spec.replicas");
    assert_contains!(problem.message, "has no such field");
    // Without a schedule it has no effect.
    let unscheduled = Observed {
        inputs: Inputs::default(),
        ..observed
    };
    assert!(planner.plan_live(&unscheduled).is_none());
}

proptest! {
    /// The plan contains the boundaries that the controller applies.
    #[test]
    fn the_plan_matches_the_controller(
        rule in prop::sample::select(vec![
            (Key::Hours, "Mon-Fri 09:00-19:00; Sat 10:00-14:00"), (Key::Hours, "22:00-06:00"),
            (Key::Start, "0,30 2 * * *"), (Key::Stop, "weekends 02:30,03:00"), (Key::Start, "@hourly"),
        ]),
        more in prop::sample::select(vec![
            (Key::Jitter, "1h"), (Key::Except, "2026-10-25..2026-11-01"), (Key::StopReplicas, "2"), (Key::Replicas, "7"),
            (Key::TreatAs, "2026-10-25..2026-11-01 = Sat; 2027-03-06 = Mon"),
        ]),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
        from in 1_790_000_000_i64..1_830_000_000,
        length in 1_i64..20 * 86_400,
    ) {
        let from = DateTime::from_timestamp(from, 0).unwrap();
        let until = from + TimeDelta::seconds(length);
        let zone = Zone::parse(zone).unwrap();
        let inputs = Inputs::default().with(rule.0, rule.1).with(more.0, more.1);
        let object = WorkloadRef { kind: Kind::DEPLOYMENT, namespace: "dev".into(), name: "web".into(), uid: "".into() };
        let ParsedInputs::Scheduled(spec) = read(&inputs, &zone.into()) else { panic!("{inputs:?}") };

        let next = |after| spec.next_after(&object, None, after).filter(|it| it.at < until);
        let expected: Vec<_> = std::iter::successors(next(from - TimeDelta::seconds(1)), |it| next(it.at))
            .map(|it| (it.at, it.action))
            .collect();
        let period = Period::new(from, until).unwrap();
        let planner = Planner { period, context: zone.into(), prefix: Prefix::default() };
        let plan = planner.plan(&object, &inputs, &[]).unwrap();
        let planned: Vec<_> = plan.boundaries().map(|it| (it.at.to_utc(), it.action)).collect();
        prop_assert_eq!(planned, expected);
    }
}
