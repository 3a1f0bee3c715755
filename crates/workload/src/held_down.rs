//! What is held down though its schedule says running.

use super::inputs::parsed::ParsedInputs;
use super::keys::Label;
use super::observed::Observed;
use super::state::Phase;

/// Whether dayshift holds an object down though its schedule says running: a copy is taken up so, an
/// object whose clock was wrong, and one whose zone or calendars have changed. Its next start brings it
/// back. What is to be done at this moment is no such case.
///
/// Between `last` and `next` the schedule says the same, so that the object alone tells.
pub fn is_held_down_against_schedule(observed: &Observed, parsed: &ParsedInputs) -> bool {
    let ParsedInputs::Scheduled(spec) = parsed else {
        return false;
    };
    let is_saved = observed.labels.text(Label::SavedReplicas).is_some();
    let is_held = observed.phase().is_none_or(Phase::is_override);
    if !is_saved || is_held || observed.deleting {
        return false;
    }
    let state = observed.state();
    let back = |last| spec.brings_back(&observed.object, observed.replicas, state.saved, last);
    // Hashing costs most, and is needed least often.
    state.last.and_then(back).is_some()
        && state
            .fingerprint
            .is_some_and(|it| it.is_of(&observed.inputs, &observed.object.uid))
}
