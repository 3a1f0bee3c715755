//! Stories that share control planes, and what happens where there is none.

use std::env;
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Completion, Failed, Trial};

use super::assets::{Assets, Missing};
use super::control_plane::ControlPlane;
use super::programs::Parts;
use super::retry::retry_when_stalled;

/// A test on a control plane that it shares with others: it keeps to Namespaces of its own.
#[derive(Clone, Copy)]
pub(crate) struct Story {
    /// The path of the function, as cargo shows tests.
    pub(crate) name: &'static str,
    pub(crate) parts: Parts,
    pub(crate) tell: fn(&ControlPlane),
}

/// `stories![Parts::Server: one_function, another]` is a `Vec<Story>`.
macro_rules! stories {
    ($parts:expr; $($tell:ident),+ $(,)?) => {
        vec![$($crate::support::Story {
            name: concat!(module_path!(), "::", stringify!($tell)),
            parts: $parts,
            tell: $tell,
        }),+]
    };
}
pub(crate) use stories;

/// The control planes of a test binary: at most one of each kind, started by the first story
/// that needs it.
#[derive(Default)]
pub(crate) struct Stage {
    assets: OnceLock<Result<Assets, Missing>>,
    server: OnceLock<ControlPlane>,
    older_server: OnceLock<ControlPlane>,
    pods: OnceLock<ControlPlane>,
}

impl Stage {
    /// The story as a test. Without a control plane it is ignored and says why; where `CI` is set
    /// it fails, lest a pipeline is green for having tested nothing.
    pub(crate) fn trial(self: &Arc<Self>, story: Story) -> Trial {
        let stage = Arc::clone(self);
        let name = story
            .name
            .split_once("::")
            .map_or(story.name, |(_, name)| name);
        Trial::ignorable_test(name, move || match stage.plane(story.parts) {
            Ok(plane) => {
                let told = retry_when_stalled(name, || (story.tell)(plane));
                plane.assert_alive();
                told.map(|_| Completion::Completed).map_err(Failed::from)
            }
            Err(Missing::NoMeans(reason)) if env::var_os("CI").is_none() => {
                Ok(Completion::ignored_with(reason))
            }
            Err(Missing::NoMeans(reason) | Missing::Failed(reason)) => Err(Failed::from(reason)),
        })
    }

    fn plane(&self, parts: Parts) -> Result<&ControlPlane, Missing> {
        let assets = self
            .assets
            .get_or_init(Assets::find)
            .as_ref()
            .map_err(Missing::clone)?;
        let place = match parts {
            Parts::Server => &self.server,
            Parts::OlderServer => &self.older_server,
            Parts::Pods => {
                assets.make_pods()?;
                &self.pods
            }
        };
        Ok(place.get_or_init(|| ControlPlane::start(assets, parts)))
    }
}
