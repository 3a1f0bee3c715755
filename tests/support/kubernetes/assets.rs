//! Locating or building the programs of a control plane.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::support::{build, definitions};

/// Programs that every control plane needs.
const SERVER: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];
/// Programs and files that create pods for Deployments. `setup-envtest` does not contain them.
const PODS: [&str; 4] = [
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    build::STAGES,
];

/// A directory with the programs of a control plane.
#[derive(Clone, Debug)]
pub(crate) struct Assets {
    directory: PathBuf,
}

/// The reason why there is no control plane.
#[derive(Clone, Debug)]
pub(crate) enum Missing {
    /// This machine cannot build it, for example because `go` is missing.
    NoMeans(String),
    /// Building it failed.
    Failed(String),
}

impl Assets {
    /// Searches `KUBEBUILDER_ASSETS`, then the cache, and otherwise builds into the cache. With
    /// `KUBERNETES=1.37`, it is this minor version from `tests/controlplane`.
    pub(crate) fn find() -> Result<Self, Missing> {
        if let Some(minor) = other_minor() {
            let minor = minor?;
            let recipe = build::Recipe::control_plane(Some(&minor));
            return Ok(Self {
                directory: built(&recipe)?,
            });
        }
        if let Some(directory) =
            env::var_os("KUBEBUILDER_ASSETS").filter(|directory| !directory.is_empty())
        {
            let assets = Self {
                directory: directory.into(),
            };
            return assets.has(&SERVER).map(|()| assets);
        }
        Ok(Self {
            directory: built(&build::Recipe::control_plane(None))?,
        })
    }

    /// toxiproxy's server. It is built only for tests that need it.
    pub(crate) fn proxy() -> Result<PathBuf, Missing> {
        program(&build::Recipe::proxy(), build::PROXY.0)
    }

    /// Helm 3 or 4.
    pub(crate) fn helm(version: u32) -> Result<PathBuf, Missing> {
        program(&build::Recipe::helm(), &format!("helm{version}"))
    }

    /// The program that runs the chart's unit tests.
    pub(crate) fn helm_unittest() -> Result<PathBuf, Missing> {
        program(&build::Recipe::helm(), build::HELM_UNITTEST)
    }

    /// The program that validates manifests against schemas.
    pub(crate) fn kubeconform() -> Result<PathBuf, Missing> {
        program(&build::Recipe::helm(), build::KUBECONFORM)
    }

    /// The files with the Prometheus Operator's definitions.
    pub(crate) fn monitoring_definitions() -> Result<Vec<PathBuf>, Missing> {
        let directory = built(&build::Recipe::prometheus_operator())?;
        Ok(definitions::MONITORING_CRDS
            .map(|crd| directory.join(crd))
            .into())
    }

    /// The program that applies a manifest like Flux.
    pub(crate) fn flux() -> Result<PathBuf, Missing> {
        program(&build::Recipe::flux(), build::FLUX.0)
    }

    pub(crate) fn kube_proxy() -> Result<PathBuf, Missing> {
        program(&build::Recipe::kube_proxy(), build::KUBE_PROXY.0)
    }

    /// The directory with Argo CD's components and definitions.
    pub(crate) fn argo_cd() -> Result<PathBuf, Missing> {
        built(&build::Recipe::argo_cd())
    }

    pub(crate) fn oauth2_proxy() -> Result<PathBuf, Missing> {
        program(&build::Recipe::oauth2_proxy(), build::OAUTH2_PROXY.0)
    }

    pub(crate) fn kube_green() -> Result<PathBuf, Missing> {
        program(&build::Recipe::kube_green(), build::KUBE_GREEN.0)
    }

    /// The directory with CloudNativePG's operator and definitions.
    pub(crate) fn cloud_native_pg() -> Result<PathBuf, Missing> {
        built(&build::Recipe::cloud_native_pg())
    }

    /// The directory with Prometheus and its tool.
    pub(crate) fn prometheus() -> Result<PathBuf, Missing> {
        built(&build::Recipe::prometheus())
    }

    pub(crate) fn alertmanager() -> Result<PathBuf, Missing> {
        program(&build::Recipe::alertmanager(), build::ALERTMANAGER.0)
    }

    /// Whether these programs create pods for Deployments. The error names the missing ones.
    pub(crate) fn make_pods(&self) -> Result<(), Missing> {
        self.has(&PODS)
    }

    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.directory.join(program)
    }

    fn has(&self, programs: &[&str]) -> Result<(), Missing> {
        match programs
            .iter()
            .find(|program| !self.path(program).is_file())
        {
            None => Ok(()),
            Some(program) => Err(Missing::NoMeans(format!(
                "{} has no {program}; unset KUBEBUILDER_ASSETS to have all of it built with `go`",
                self.directory.display()
            ))),
        }
    }
}

/// The minor version in `KUBERNETES`. The error lists the available ones.
fn other_minor() -> Option<Result<String, Missing>> {
    let minor = env::var("KUBERNETES")
        .ok()
        .filter(|minor| !minor.is_empty())?;
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/controlplane");
    if modules.join(&minor).join("go.mod").is_file() {
        return Some(Ok(minor));
    }
    let is_directory = |entry: &fs::DirEntry| entry.path().is_dir();
    let there = fs::read_dir(modules).unwrap().map(Result::unwrap);
    let mut known: Vec<_> = there
        .filter(is_directory)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    known.sort();
    let known = known.join(", ");
    Some(Err(Missing::Failed(format!(
        "KUBERNETES={minor}: not one of {known}; unset it for the version of tests/controlplane/go.mod"
    ))))
}

/// A program that this recipe builds.
fn program(recipe: &build::Recipe, name: &str) -> Result<PathBuf, Missing> {
    Ok(built(recipe)?.join(name))
}

/// The directory that this recipe builds.
fn built(recipe: &build::Recipe) -> Result<PathBuf, Missing> {
    let directory = cache()?.join(recipe.directory_name());
    if !directory.is_dir() {
        if !answers("go") {
            let name = recipe.name;
            let reason = format!("no `go` to build the {name} of the tests with");
            return Err(Missing::NoMeans(reason));
        }
        recipe.build(&directory).map_err(Missing::Failed)?;
    }
    Ok(directory)
}

/// The cache is outside of the checkout, so that clones share it.
fn cache() -> Result<PathBuf, Missing> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let root = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| Missing::NoMeans("neither XDG_CACHE_HOME nor HOME is set".to_owned()))?;
    let directory = root.join("dayshift");
    fs::create_dir_all(&directory)
        .map_err(|error| Missing::Failed(format!("{}: {error}", directory.display())))?;
    Ok(directory)
}

fn answers(program: impl AsRef<OsStr>) -> bool {
    Command::new(program)
        .arg("version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
