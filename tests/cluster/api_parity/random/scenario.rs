//! A Deployment and the patches that it gets, one after the other.

use fastrand::Rng;
use serde_json::Value;

use super::object;
use super::patch::Patch;
use crate::api_parity::table::{Case, DEPLOYMENTS, WEB, case};

/// The number of patches for one object.
const PATCHES: usize = 4;
/// The field managers of the patches, in turn.
const MANAGERS: [&str; 3] = ["dayshift", "kubectl", "dayshift"];

#[derive(Clone)]
pub struct RandomScenario {
    pub object: Value,
    pub patches: Vec<Patch>,
}

impl RandomScenario {
    pub fn random(rng: &mut Rng, patches: usize) -> Self {
        let object = object::random(rng);
        let patches = (0..patches.min(PATCHES))
            .map(|_| Patch::random(rng, &object))
            .collect();
        Self { object, patches }
    }

    /// The requests: create the object, patch and delete it.
    pub fn case(&self) -> Case {
        let collection = format!("{DEPLOYMENTS}?fieldManager=helm");
        let mut case = case("random patches").post(&collection, self.object.clone());
        for (index, patch) in self.patches.iter().enumerate() {
            let manager = MANAGERS[index % MANAGERS.len()];
            let path = format!("{WEB}?fieldManager={manager}");
            case = case
                .ask("PATCH", &path, patch.content_type(), &patch.body())
                .whole()
                .owners();
        }
        case.ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            r#"{"metadata":{"finalizers":null}}"#,
        )
        .delete(WEB)
        .get(DEPLOYMENTS)
    }
}

impl std::fmt::Display for RandomScenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.object)?;
        for patch in &self.patches {
            writeln!(f, "{} {}", patch.content_type(), patch.body())?;
        }
        Ok(())
    }
}
