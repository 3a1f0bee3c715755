//! The order in which keys fall back: a model of eight maps, and random values in them.

use std::{collections::BTreeMap, sync::Arc};

use dayshift_workload::{
    Annotations, DefaultSchedule, Inheritance, Inputs, Key, Kind, NamedSchedule, NamedSchedules,
    Origin,
};
use proptest::prelude::*;

/// The places in order: the object, its team's ConfigMap, the Namespace and the flags, each followed by
/// the schedule that it names.
const PLACES: usize = 8;

/// The level of each pair of places, and the name of its schedule.
const LEVELS: [(Origin, &str); PLACES / 2] = [
    (Origin::Own, "own"),
    (Origin::Team, "squad"),
    (Origin::Namespace, "team"),
    (Origin::Controller, "all"),
];

/// The values of each place by key.
type Values = [BTreeMap<Key, String>; PLACES];

const TIMES: [Key; 4] = [Key::Start, Key::Stop, Key::Hours, Key::Scale];

const fn is_named(place: usize) -> bool {
    place % 2 == 1
}

/// The place whose value is in force, as the documentation describes it.
fn expected(values: &Values, key: Key, is_cron_job: bool) -> Option<usize> {
    if values[0].contains_key(&key) {
        return Some(0);
    }
    let has_counts = [Key::Scale, Key::Replicas, Key::StopReplicas, Key::StopAfter];
    let applies = |key: &Key| {
        !is_cron_job && *key != Key::StopJobs || is_cron_job && !has_counts.contains(key)
    };
    let only_own = [Key::AllowVolumeDeletion, Key::StopJobs];
    if only_own.contains(&key) || !applies(&key) {
        return None;
    }
    let gives_times = |place: &usize| {
        let given = |key: &&Key| values[*place].contains_key(key) && (*place == 0 || applies(key));
        TIMES.iter().any(|key| given(&key))
    };
    let times = (0..PLACES).find(gives_times);
    if TIMES.contains(&key) {
        return times.filter(|place| values[*place].contains_key(&key));
    }
    let first = (0..PLACES).find(|place| values[*place].contains_key(&key))?;
    let is_count = [Key::Replicas, Key::StopReplicas, Key::Extra, Key::StopAfter].contains(&key);
    let is_hidden =
        times.is_some_and(|times| first > times && values[times].contains_key(&Key::Scale));
    (!is_count || !is_hidden).then_some(first)
}

fn texts(values: &BTreeMap<Key, String>) -> Vec<(Key, String)> {
    values
        .iter()
        .map(|(key, text)| (*key, text.clone()))
        .collect()
}

fn inputs(values: &Values, is_cron_job: bool) -> Inputs {
    let schedules = LEVELS.into_iter().enumerate();
    let schedules =
        schedules.map(|(level, (_, name))| NamedSchedule::new(name, texts(&values[2 * level + 1])));
    let inheritance = Inheritance {
        from_teams: true,
        default_schedule: DefaultSchedule::from_texts(texts(&values[6])),
        schedules: NamedSchedules::from_file(schedules),
        ..Inheritance::default()
    };
    let [team, namespace] =
        [2, 4].map(|place| Arc::new(Annotations::from_texts(texts(&values[place]))));
    let own = Arc::new(Annotations::from_texts(texts(&values[0])));
    let kind = if is_cron_job {
        Kind::CRON_JOB
    } else {
        Kind::DEPLOYMENT
    };
    Inputs::from_own(own)
        .with_counts(kind.counts())
        .with_defaults(inheritance.in_force("dev", Some(&namespace), Some(&team)))
        .with_schedules(&inheritance.schedules)
}

/// Values in random places. Each names its place, so that equal values are impossible.
fn values() -> impl Strategy<Value = Values> {
    let one = (0..PLACES, proptest::sample::select(&Key::ALL[..]));
    let many = proptest::collection::vec(one, 0..18);
    (many, proptest::array::uniform4(any::<bool>())).prop_map(|(many, names)| {
        let mut values = Values::default();
        for (place, key) in many {
            let is_flag = TIMES.contains(&key);
            let may_hold = match place {
                _ if is_named(place) => key.describes_schedule(),
                6 => is_flag,
                // With it, the Namespace could forbid the team's values.
                4 => !matches!(key, Key::NamedSchedule | Key::TeamDefaults),
                _ => key != Key::NamedSchedule,
            };
            if may_hold {
                values[place].insert(key, format!("{key} of {place}"));
            }
        }
        for (level, is_given) in names.into_iter().enumerate() {
            if is_given {
                let name = LEVELS[level].1.to_owned();
                values[2 * level].insert(Key::NamedSchedule, name);
            } else {
                values[2 * level + 1].clear();
            }
        }
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn each_key_comes_from_the_first_place_that_gives_it(values in values(), is_cron_job: bool) {
        let inputs = inputs(&values, is_cron_job);
        for key in Key::ALL {
            let place = expected(&values, key, is_cron_job);
            let text = place.map(|place| &*values[place][&key]);
            prop_assert_eq!(inputs.text(key), text, "{}", key);
            let source = inputs.source(key).map(|source| (source.origin, source.schedule));
            let expected = place.map(|place| {
                let (origin, name) = LEVELS[place / 2];
                (origin, is_named(place).then_some(name))
            });
            prop_assert_eq!(source, expected, "{}", key);
        }
    }

    /// Only the text in force and the name that the object follows count.
    #[test]
    fn the_fingerprint_has_the_values_in_force_and_the_name(values in values()) {
        let inputs = inputs(&values, false);
        let hashed = [
            Key::Start, Key::Stop, Key::Hours, Key::Scale, Key::Timezone, Key::Except, Key::TreatAs,
            Key::Jitter, Key::Extra, Key::StopAfter,
        ];
        let mut flat = Inputs::default();
        for key in hashed {
            if let Some(place) = expected(&values, key, false) {
                flat = flat.with(key, &values[place][&key]);
            }
        }
        let mut times = TIMES.into_iter().chain([Key::StopAfter]);
        let times = times.find_map(|key| expected(&values, key, false));
        let of_times = times.filter(|place| is_named(*place)).map(|place| LEVELS[place / 2].1);
        let name = values[0].get(&Key::NamedSchedule).map(String::as_str).or(of_times);
        if let Some(name) = name {
            flat = flat.with(Key::NamedSchedule, name);
        }
        prop_assert_eq!(inputs.fingerprint("u1"), flat.fingerprint("u1"));
        prop_assert_eq!(inputs.schedule_name(), name);
    }
}

#[test]
fn namespace_can_forbid_the_values_of_its_team() {
    let team = [(Key::Hours, "09:00-17:00".to_owned())];
    let team = Arc::new(Annotations::from_texts(team));
    for (text, from_teams, expected) in [
        (None, true, Some(Origin::Team)),
        (Some("true"), true, Some(Origin::Team)),
        (Some(" FALSE"), true, Some(Origin::Namespace)),
        // It is rejected elsewhere.
        (Some("maybe"), true, Some(Origin::Team)),
        (None, false, Some(Origin::Namespace)),
    ] {
        let inheritance = Inheritance {
            from_teams,
            ..Inheritance::default()
        };
        let hours = (Key::Hours, "09:00-19:00".to_owned());
        let permission = text.map(|text| (Key::TeamDefaults, text.to_owned()));
        let namespace = Annotations::from_texts([hours].into_iter().chain(permission));
        let namespace = Arc::new(namespace);
        let defaults = inheritance.in_force("dev", Some(&namespace), Some(&team));
        let inputs = Inputs::default().with_defaults(defaults);
        assert_eq!(inputs.origin(Key::Hours), expected, "{text:?} {from_teams}");
    }
}
