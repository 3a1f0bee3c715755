//! Builds programs with `go` from the modules in `tests/`, for example `tests/controlplane`, and copies files
//! out of these modules.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use ring::digest::{Context, SHA256};

use super::definitions::{
    ARGO_CD_DEFINITIONS, CLOUD_NATIVE_PG_DEFINITIONS, Definitions, MONITORING_DEFINITIONS,
};

/// kwok's stages in one file. They define the behavior of pods on the fake node.
pub(crate) const STAGES: &str = "kwok-stages.yaml";

/// The directories with stages in kwok's module.
const STAGE_DIRECTORIES: [&str; 3] = ["node/fast", "node/heartbeat", "pod/fast"];

/// The programs and their packages. They need names, because two packages are called `server`.
const PACKAGES: &[(&str, &str)] = &[
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    (
        "kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
    ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    ("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
];

/// The proxy that disturbs connections.
pub(crate) const PROXY: (&str, &str) = ("toxiproxy", "github.com/Shopify/toxiproxy/v2/cmd/server");

/// The proxy for Services on a node.
pub(crate) const KUBE_PROXY: (&str, &str) = ("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy");

/// Helm 3 and 4, and the tools that check the chart.
const HELMS: &[(&str, &str)] = &[
    ("helm4", "helm.sh/helm/v4/cmd/helm"),
    ("helm3", "helm.sh/helm/v3/cmd/helm"),
    (
        HELM_UNITTEST,
        "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
    ),
    (KUBECONFORM, "github.com/yannh/kubeconform/cmd/kubeconform"),
];

/// Runs the unit tests of a chart.
pub(crate) const HELM_UNITTEST: &str = "helm-unittest";

/// Validates manifests against schemas.
pub(crate) const KUBECONFORM: &str = "kubeconform";

/// Our program around Flux's engine, which applies a manifest like Flux.
pub(crate) const FLUX: (&str, &str) = ("kustomize-apply", "dayshift/tests/flux");

/// Prometheus, and its tool that checks rules and metrics.
const PROMETHEUSES: &[(&str, &str)] = &[
    ("promtool", "github.com/prometheus/prometheus/cmd/promtool"),
    (
        "prometheus",
        "github.com/prometheus/prometheus/cmd/prometheus",
    ),
];

/// Alertmanager.
pub(crate) const ALERTMANAGER: (&str, &str) = (
    "alertmanager",
    "github.com/prometheus/alertmanager/cmd/alertmanager",
);

/// The authenticating proxy before the dashboard.
pub(crate) const OAUTH2_PROXY: (&str, &str) =
    ("oauth2-proxy", "github.com/oauth2-proxy/oauth2-proxy/v7");

/// kube-green.
pub(crate) const KUBE_GREEN: (&str, &str) = ("kube-green", "github.com/kube-green/kube-green/cmd");

/// The operator of CloudNativePG.
pub(crate) const CLOUD_NATIVE_PG: (&str, &str) = (
    "cloudnative-pg",
    "github.com/cloudnative-pg/cloudnative-pg/cmd/manager",
);

/// Our program with the syncing components of Argo CD, and its module.
pub(crate) const ARGO_CD: (&str, &str) = ("argocd", "dayshift/tests/argocd");

/// The inputs of a build. Their hash names the directory of the result.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    cost: &'static str,
    module: PathBuf,
    packages: &'static [(&'static str, &'static str)],
    stage_directories: &'static [&'static str],
    definitions: Option<Definitions>,
    flags: Vec<String>,
    sources: Vec<u8>,
}

impl Recipe {
    /// The control plane of the default Kubernetes version, or of another minor version.
    pub(crate) fn control_plane(minor: Option<&str>) -> Self {
        let mut recipe = Self::read("controlplane", "minutes, 500 MB", PACKAGES);
        if let Some(minor) = minor {
            recipe.module.push(minor);
            recipe.sources = sources(&recipe.module);
        }
        let go_mod = fs::read_to_string(recipe.module.join("go.mod")).unwrap();
        recipe.flags[3] = linker_flags(&go_mod);
        recipe.stage_directories = &STAGE_DIRECTORIES;
        recipe
    }

    /// kube-proxy of the default Kubernetes version.
    pub(crate) fn kube_proxy() -> Self {
        let mut recipe = Self::read("kube-proxy", "a minute, 70 MB", &[KUBE_PROXY]);
        let go_mod = fs::read_to_string(recipe.module.join("go.mod")).unwrap();
        recipe.flags[3] = linker_flags(&go_mod);
        recipe
    }

    pub(crate) fn proxy() -> Self {
        Self::read("toxiproxy", "some 20 s, 11 MB", &[PROXY])
    }

    pub(crate) fn helm() -> Self {
        Self::read("helm", "minutes, 180 MB", HELMS)
    }

    pub(crate) fn flux() -> Self {
        Self::read("flux", "minutes, 29 MB", &[FLUX])
    }

    pub(crate) fn argo_cd() -> Self {
        let mut recipe = Self::read("argocd", "ten minutes, 200 MB", &[ARGO_CD]);
        recipe.definitions = Some(ARGO_CD_DEFINITIONS);
        recipe
    }

    /// Only files, without a build.
    pub(crate) fn prometheus_operator() -> Self {
        let mut recipe = Self::read("prometheus_operator", "seconds, 90 kB", &[]);
        recipe.definitions = Some(MONITORING_DEFINITIONS);
        recipe
    }

    pub(crate) fn oauth2_proxy() -> Self {
        Self::read("oauth2_proxy", "minutes, 30 MB", &[OAUTH2_PROXY])
    }

    pub(crate) fn kube_green() -> Self {
        Self::read("kube-green", "minutes, 60 MB", &[KUBE_GREEN])
    }

    pub(crate) fn cloud_native_pg() -> Self {
        let mut recipe = Self::read("cloudnativepg", "minutes, 80 MB", &[CLOUD_NATIVE_PG]);
        recipe.definitions = Some(CLOUD_NATIVE_PG_DEFINITIONS);
        recipe
    }

    pub(crate) fn alertmanager() -> Self {
        Self::read("alertmanager", "minutes, 30 MB", &[ALERTMANAGER])
    }

    pub(crate) fn prometheus() -> Self {
        let mut recipe = Self::read("prometheus", "minutes, 105 MB", PROMETHEUSES);
        // Without service discovery for cloud providers.
        recipe.flags.push("-tags=remove_all_sd".to_owned());
        recipe
    }

    fn read(
        name: &'static str,
        cost: &'static str,
        packages: &'static [(&'static str, &'static str)],
    ) -> Self {
        let module = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(name);
        let sources = sources(&module);
        let flags = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w"];
        Self {
            name,
            cost,
            module,
            packages,
            stage_directories: &[],
            definitions: None,
            flags: flags.map(str::to_owned).to_vec(),
            sources,
        }
    }

    pub(crate) fn directory_name(&self) -> String {
        let mut hash = Context::new(&SHA256);
        hash.update(&self.sources);
        let recipe = format!(
            "{:?}{:?}{:?}",
            self.flags, self.packages, self.stage_directories
        );
        hash.update(recipe.as_bytes());
        if let Some(definitions) = &self.definitions {
            hash.update(format!("{definitions:?}").as_bytes());
        }
        let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        hash.update(machine.as_bytes());
        let hex: String = hash
            .finish()
            .as_ref()
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{}-{hex}", self.name)
    }

    /// Builds into a directory, which is created atomically. One build runs at a time, on all processors: two builds at
    /// once would both compile the packages that they share.
    pub(crate) fn build(&self, directory: &Path) -> Result<(), String> {
        let lock_path = directory.with_file_name("build.lock");
        let lock = File::create(&lock_path)
            .map_err(|error| format!("{}: {error}", lock_path.display()))?;
        if lock.try_lock().is_err() {
            eprintln!("the build of the {} waits for another build", self.name);
            lock.lock()
                .map_err(|error| format!("{}: {error}", lock_path.display()))?;
        }
        if directory.is_dir() {
            return Ok(());
        }
        let partial = directory.with_extension("partial");
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial).map_err(|error| error.to_string())?;
        let (name, cost) = (self.name, self.cost);
        eprintln!("building the {name} of the tests with go (once: {cost})");
        for (index, (name, package)) in self.packages.iter().enumerate() {
            let begin = Instant::now();
            self.go(
                // The linker flags remove debug information, so the compiler needs not write it.
                &["build", "-gcflags=all=-dwarf=false"],
                &self.flags,
                &["-o", &partial.join(name).to_string_lossy(), package],
            )?;
            let (done, all, seconds) = (index + 1, self.packages.len(), begin.elapsed().as_secs());
            eprintln!("  {done} of {all}: {name} ({seconds} s)");
        }
        if !self.stage_directories.is_empty() {
            self.collect_stages(&partial.join(STAGES))?;
        }
        if let Some(definitions) = &self.definitions {
            self.go(&["mod", "download", definitions.module], &[], &[])?;
            let module = self.module_directory(definitions.module)?;
            for file in definitions.files {
                let from = module.join(definitions.directory).join(file);
                let text =
                    fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?;
                fs::write(partial.join(file), text).map_err(|error| error.to_string())?;
            }
        }
        fs::rename(&partial, directory).map_err(|error| error.to_string())?;
        eprintln!("the {name} is in {}", directory.display());
        Ok(())
    }

    /// kwok reads its stages from files, which a build does not copy.
    fn collect_stages(&self, into: &Path) -> Result<(), String> {
        let module = self.module_directory("sigs.k8s.io/kwok")?;
        let mut stages = String::new();
        for directory in self.stage_directories {
            let directory = module.join("kustomize/stage").join(directory);
            let mut files: Vec<PathBuf> = fs::read_dir(&directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?
                .map(|entry| entry.unwrap().path())
                .filter(|path| {
                    path.extension()
                        .is_some_and(|extension| extension == "yaml")
                })
                .filter(|path| !path.ends_with("kustomization.yaml"))
                .collect();
            files.sort();
            for file in files {
                stages.push_str("---\n");
                stages.push_str(&fs::read_to_string(file).unwrap());
            }
        }
        fs::write(into, stages).map_err(|error| error.to_string())
    }

    /// The directory of a module.
    fn module_directory(&self, module: &str) -> Result<PathBuf, String> {
        let directory = self.go(&["list", "-m", "-f", "{{.Dir}}", module], &[], &[])?;
        Ok(PathBuf::from(directory.trim()))
    }

    fn go(&self, verb: &[&str], flags: &[String], rest: &[&str]) -> Result<String, String> {
        let output = Command::new("go")
            .args(verb)
            .args(flags)
            .args(rest)
            .current_dir(&self.module)
            .env("GOWORK", "off")
            .env("CGO_ENABLED", "0")
            // The compiler spends less time on garbage collection.
            .env("GOGC", "400")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("go: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let command = verb
            .iter()
            .chain(rest)
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        Err(format!(
            "go {command}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}

/// The files that determine the result.
fn sources(module: &Path) -> Vec<u8> {
    let read = |name| fs::read(module.join(name));
    let mut sources = read("go.mod").unwrap();
    sources.extend(read("go.sum").unwrap());
    // Only modules with a program of our own have a `main.go`. The others build a dependency.
    sources.extend(read("main.go").unwrap_or_default());
    sources
}

/// Kubernetes' build scripts set the version. Without it, programs report `v0.0.0`, which clients reject.
fn linker_flags(go_mod: &str) -> String {
    let version = go_mod
        .lines()
        .find_map(|line| {
            line.trim()
                .strip_prefix("k8s.io/kubernetes v")?
                .split(' ')
                .next()
        })
        .expect("go.mod requires k8s.io/kubernetes");
    let mut numbers = version.split('.');
    let (major, minor) = (numbers.next().unwrap(), numbers.next().unwrap());
    let mut flags = "-s -w".to_owned();
    for package in [
        "k8s.io/component-base/version",
        "k8s.io/client-go/pkg/version",
    ] {
        for (variable, value) in [
            ("gitVersion", format!("v{version}")),
            ("gitMajor", major.to_owned()),
            ("gitMinor", minor.to_owned()),
        ] {
            flags.push_str(&format!(" -X {package}.{variable}={value}"));
        }
    }
    flags
}
