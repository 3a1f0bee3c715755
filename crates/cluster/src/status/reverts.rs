//! What a status says of who has set the count back.

use dayshift_workload::{
    Observed, Phase, Prefix,
    other_controllers::{ManagerKind, REVERT_WINDOW, elapsed_after},
};

use super::{note::Note, reverted::RevertedBy, workload_status::WorkloadStatus};
use crate::cluster::WithManagers;

impl WorkloadStatus {
    /// Takes in who has set the count back, where it is not what was done last.
    pub(super) fn find_revert(&mut self, managed: &WithManagers, observed: &Observed) {
        let by_hand = self
            .notes
            .iter()
            .position(|it| matches!(it, Note::SetByHand { .. } | Note::SetInOverride { .. }));
        let is_down = self.phase.is_some_and(Phase::follows_a_stop);
        let is_up = observed.replicas > observed.inputs.stop_replicas();
        let Some(last) = self.since.filter(|_| by_hand.is_some() || is_down && is_up) else {
            return;
        };
        let Some(by) = RevertedBy::of(managed, observed, last) else {
            return;
        };
        let is_by_load = match by.manager.kind() {
            ManagerKind::OtherController(owner) => owner.scales_by_load(),
            _ => false,
        };
        if let ManagerKind::OtherController(owner) = by.manager.kind() {
            self.owners.insert(owner);
        }
        let until = match by_hand.map(|at| self.notes.remove(at)) {
            Some(Note::SetByHand { until, .. } | Note::SetInOverride { until }) => until,
            _ => self.next,
        };
        let soon = by.after.is_none_or(|after| after <= REVERT_WINDOW) && (is_down || !is_by_load);
        self.notes.push(Note::Reverted { soon, until });
        self.reverted_by = Some(by);
    }

    /// What has become of the count, as in `argocd-controller set 3 again 12 s after the stop`.
    pub fn revert_words(&self) -> Option<String> {
        let by = self.reverted_by.as_ref()?;
        let was = match self.phase {
            Some(Phase::Slept) => "the sleep",
            Some(Phase::Stopped) => "the stop",
            Some(Phase::Woken) => "the wake",
            _ => "the start",
        };
        let counts = self.object.kind.counts();
        let undone = counts.reverted_to(self.saved.unwrap_or_default(), self.replicas);
        let after = by.after.map_or_else(|| "after".to_owned(), elapsed_after);
        Some(format!("{} {undone} {after} {was}", by.manager.name()))
    }

    /// What makes that program leave the count alone; none where the program is not known.
    pub fn cure(&self, prefix: &Prefix) -> Option<String> {
        match self.reverted_by.as_ref()?.manager.kind() {
            ManagerKind::OtherController(owner) => Some(owner.fix(&[self.object.kind], prefix)),
            _ => None,
        }
    }
}
