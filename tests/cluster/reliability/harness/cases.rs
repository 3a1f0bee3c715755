//! The cases of the table as tests, and their control planes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libtest_mimic::Trial;

use crate::reliability::harness::figures::{Figures, table};
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::proxy::Toxiproxy;
use crate::reliability::harness::scenario::Place;
use crate::support::{
    Assets, ControlPlane, Missing, Parts, Stage, assets, completion, retry_when_stalled,
};

/// Whether a case disturbs others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plane {
    /// The case uses only its own Namespace and proxy.
    Shared,
    /// The case stops programs of the control plane.
    Own,
    /// The case takes measurements that other tests would disturb: in the full form nothing else runs
    /// meanwhile. The short form checks the order of requests, and runs these cases one after the other
    /// beside other tests.
    Measured,
    /// The case would delay other tests, so nothing else runs meanwhile.
    Quiet,
}

/// A case of the table.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// The title in the table of the full form.
    pub(crate) title: &'static str,
    /// The path of the function, which is the name of the test.
    pub(crate) name: &'static str,
    pub(crate) plane: Plane,
    pub(crate) run: fn(&Place<'_>) -> Figures,
    /// See [`nightly`].
    pub(crate) is_nightly: bool,
}

/// Cases that a test on paused time covers too, as listed in `docs/contributing/nightly.md`. The short form
/// omits them.
pub(crate) fn nightly(mut cases: Vec<Case>) -> Vec<Case> {
    for case in &mut cases {
        case.is_nightly = true;
    }
    cases
}

/// `cases![Plane::Shared; "title" => function, …]` is a `Vec<Case>`.
macro_rules! cases {
    ($plane:expr; $($title:literal => $function:ident),+ $(,)?) => {{
        use crate::reliability::harness::cases::Plane;
        vec![$(Case {
            title: $title,
            name: concat!(module_path!(), "::", stringify!($function)),
            plane: $plane,
            run: $function,
            is_nightly: false,
        }),+]
    }};
}
pub(crate) use cases;

/// The result of a case, and the number of attempts.
#[derive(Clone, Debug)]
pub(crate) struct CaseResult {
    pub(crate) figures: Figures,
    pub(crate) tries: usize,
}

/// The state that the cases share in addition to the [`Stage`], created on first use, and their results.
pub(crate) struct Matrix {
    stage: Arc<Stage>,
    profile: Profile,
    toxiproxy: OnceLock<Result<Toxiproxy, Missing>>,
    /// The control planes of cases that stop programs, one in the short form. A case uses the plane of an
    /// earlier one that succeeded.
    own: [Mutex<Option<ControlPlane>>; 2],
    turns: AtomicUsize,
    /// A case that takes measurements holds this lock.
    measured: Mutex<()>,
    quiet: OnceLock<ControlPlane>,
    results: Mutex<BTreeMap<&'static str, CaseResult>>,
}

impl Matrix {
    pub(crate) fn new(stage: &Arc<Stage>, profile: Profile) -> Self {
        Self {
            stage: Arc::clone(stage),
            profile,
            toxiproxy: OnceLock::new(),
            own: Default::default(),
            turns: AtomicUsize::new(0),
            measured: Mutex::default(),
            quiet: OnceLock::new(),
            results: Mutex::default(),
        }
    }

    /// The case as a test.
    pub(crate) fn trial(self: &Arc<Self>, case: Case) -> Trial {
        let matrix = Arc::clone(self);
        let name = case
            .name
            .split_once("::")
            .map_or(case.name, |(_, name)| name);
        Trial::ignorable_test(name, move || completion(matrix.run(name, case)))
    }

    /// The table of the `cases` that ran.
    pub(crate) fn table(&self, cases: &[Case]) -> String {
        let results = self.results.lock().unwrap();
        table(
            cases
                .iter()
                .map(|case| (case.title, results.get(case.name))),
        )
    }

    fn run(&self, name: &str, case: Case) -> Result<Result<(), String>, Missing> {
        let assets = assets()?;
        let toxiproxy = self
            .toxiproxy
            .get_or_init(|| Assets::proxy().map(|program| Toxiproxy::start(&program)));
        let toxiproxy = toxiproxy.as_ref().map_err(Missing::clone)?;
        let start = || ControlPlane::start(assets, Parts::Server);
        let on = |plane: &ControlPlane| {
            let place = Place {
                plane,
                toxiproxy,
                profile: self.profile,
            };
            let reported = retry_when_stalled(name, || (case.run)(&place).keeps_to_limits());
            plane.assert_alive();
            let (figures, tries) = reported?;
            let reported = CaseResult { figures, tries };
            self.results.lock().unwrap().insert(case.name, reported);
            Ok(())
        };
        Ok(match case.plane {
            Plane::Shared => {
                let _others = self.stage.among_others();
                on(self.stage.plane(Parts::Server)?)
            }
            Plane::Own => {
                let turn = self.turns.fetch_add(1, Ordering::Relaxed) % self.profile.pick(1, 2);
                let mut own = self.own[turn]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let _others = self.stage.among_others();
                let plane = own.take().unwrap_or_else(start);
                on(&plane).inspect(|()| *own = Some(plane))
            }
            Plane::Measured if self.profile == Profile::Short => {
                let _one = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
                let _others = self.stage.among_others();
                on(self.quiet.get_or_init(start))
            }
            Plane::Measured | Plane::Quiet => {
                let _alone = self.stage.alone();
                on(self.quiet.get_or_init(start))
            }
        })
    }
}
