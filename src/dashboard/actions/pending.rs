//! What was asked for and is still to be confirmed.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    gate::Token,
    jobs::Jobs,
    plan::{Asked, Plan, Planned},
};

/// So many plans are remembered.
const MOST_PLANS: usize = 16;
/// What somebody may have done from the pages.
pub(in crate::dashboard) struct Actions {
    pub(in crate::dashboard) token: Token,
    pub(super) jobs: Jobs,
    plans: Mutex<(u64, VecDeque<Arc<Plan>>)>,
}

impl Actions {
    pub(in crate::dashboard) fn new() -> io::Result<Self> {
        Ok(Self {
            token: Token::random()?,
            jobs: Jobs::default(),
            plans: Mutex::default(),
        })
    }

    /// Remembers a plan, and forgets an old one where there are many.
    pub(super) fn remember(&self, asked: Arc<Asked>, planned: Planned) -> Arc<Plan> {
        let mut plans = self.plans();
        plans.0 += 1;
        let plan = Arc::new(Plan::new(plans.0, asked, planned));
        if plans.1.len() == MOST_PLANS {
            plans.1.pop_front();
        }
        plans.1.push_back(Arc::clone(&plan));
        plan
    }

    pub(in crate::dashboard) fn find(&self, id: u64) -> Option<Arc<Plan>> {
        self.plans().1.iter().find(|it| it.id == id).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, (u64, VecDeque<Arc<Plan>>)> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
