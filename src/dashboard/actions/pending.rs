//! What was asked for and is still to be confirmed.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    jobs::Jobs,
    plan::{Asked, Plan, Planned},
};
use crate::dashboard::entrance::Identity;

/// At most this many plans of one visitor are remembered.
const MAX_PLANS: usize = 16;
/// At most this many visitors have plans.
const MAX_VISITORS: usize = 16;

/// At most this many objects are remembered in all plans together: some 2 kB each.
const MAX_OBJECTS: usize = 6_000;

/// What somebody may have done from the pages.
#[derive(Default)]
pub(crate) struct Actions {
    pub(super) jobs: Jobs,
    plans: Mutex<Plans>,
}

/// The plans of each visitor; whoever asked last stands last.
#[derive(Default)]
struct Plans {
    last_id: u64,
    by_visitor: VecDeque<(Identity, VecDeque<Arc<Plan>>)>,
}

impl Plans {
    /// Forgets the oldest plans of whoever has not asked for longest, until all plans together hold
    /// no more objects than this, or one plan is left.
    fn forget_beyond(&mut self, objects: usize) {
        loop {
            let all = self.by_visitor.iter().flat_map(|(_, own)| own);
            let (mut plans, mut held) = (0, 0);
            for plan in all {
                plans += 1;
                held += plan.objects();
            }
            if held <= objects || plans <= 1 {
                return;
            }
            if let Some((_, own)) = self.by_visitor.front_mut() {
                own.pop_front();
            }
            self.by_visitor.retain(|(_, own)| !own.is_empty());
        }
    }
}

impl Actions {
    /// Remembers a plan of a visitor, and forgets their oldest where they have many.
    pub(super) fn remember(
        &self,
        visitor: &Identity,
        asked: Arc<Asked>,
        planned: Planned,
    ) -> Arc<Plan> {
        let mut plans = self.plans();
        plans.last_id += 1;
        let plan = Arc::new(Plan::new(plans.last_id, asked, planned));
        let by_visitor = &mut plans.by_visitor;
        let at = by_visitor.iter().position(|(it, _)| it == visitor);
        let known = at.and_then(|at| by_visitor.remove(at));
        let mut own = known.map(|(_, own)| own).unwrap_or_default();
        if own.len() == MAX_PLANS {
            own.pop_front();
        }
        own.push_back(Arc::clone(&plan));
        if by_visitor.len() == MAX_VISITORS {
            by_visitor.pop_front();
        }
        by_visitor.push_back((visitor.clone(), own));
        plans.forget_beyond(MAX_OBJECTS);
        plan
    }

    /// A plan that this visitor has asked for.
    pub(crate) fn find(&self, visitor: &Identity, id: u64) -> Option<Arc<Plan>> {
        let plans = self.plans();
        let (_, own) = plans.by_visitor.iter().find(|(it, _)| it == visitor)?;
        own.iter().find(|it| it.id == id).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, Plans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
