//! Helm and Flux, which apply manifests too.

use std::path::Path;
use std::process::Command;

use super::assets::Assets;
use super::control_plane::ControlPlane;
use super::output::Output;

impl ControlPlane {
    /// Runs Helm 3 or 4 as admin.
    pub(crate) fn helm(&self, version: u32, arguments: &[&str]) -> Output {
        let program = Assets::helm(version).unwrap_or_else(|why| panic!("{why:?}"));
        let line = format!("helm{version} {}", arguments.join(" "));
        let mut helm = Command::new(program);
        self.output(&line, helm.args(arguments), &self.kubeconfig())
    }

    /// Applies a manifest like Flux's kustomize-controller, as admin.
    pub(crate) fn flux(&self, kustomization: &Path, manifest: &Path) -> Output {
        let program = Assets::flux().unwrap_or_else(|why| panic!("{why:?}"));
        let line = format!("{} {}", program.display(), kustomization.display());
        let mut flux = Command::new(program);
        flux.args([kustomization, manifest]);
        self.output(&line, &mut flux, &self.kubeconfig())
    }
}
