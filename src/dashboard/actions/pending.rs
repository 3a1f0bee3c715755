//! What was asked for and is still to be confirmed.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    jobs::Jobs,
    plan::{Asked, Plan, Planned},
};
use crate::dashboard::{
    access::{Access, Browser},
    token::Token,
};

/// At most this many plans of one browser are remembered.
const MAX_PLANS: usize = 16;
/// At most this many browsers have plans.
const MAX_BROWSERS: usize = 16;

/// What somebody may have done from the pages.
pub(in crate::dashboard) struct Actions {
    /// Who may look and act.
    pub(in crate::dashboard) access: Access,
    /// What every form of this start carries, and nobody else knows.
    pub(in crate::dashboard) token: Token,
    pub(super) jobs: Jobs,
    plans: Mutex<Plans>,
}

/// The plans of each browser; the browser that asked last stands last.
#[derive(Default)]
struct Plans {
    last_id: u64,
    by_browser: VecDeque<(Browser, VecDeque<Arc<Plan>>)>,
}

impl Actions {
    /// For the pages at this port.
    ///
    /// # Errors
    /// Where the system gives nothing random.
    pub(in crate::dashboard) fn at(port: u16) -> io::Result<Self> {
        Ok(Self {
            access: Access::at(port)?,
            token: Token::random()?,
            jobs: Jobs::default(),
            plans: Mutex::default(),
        })
    }

    /// Remembers a plan of a browser, and forgets its oldest where it has many.
    pub(super) fn remember(
        &self,
        browser: &Browser,
        asked: Arc<Asked>,
        planned: Planned,
    ) -> Arc<Plan> {
        let mut plans = self.plans();
        plans.last_id += 1;
        let plan = Arc::new(Plan::new(plans.last_id, asked, planned));
        let by_browser = &mut plans.by_browser;
        let at = by_browser.iter().position(|(it, _)| it == browser);
        let known = at.and_then(|at| by_browser.remove(at));
        let mut own = known.map(|(_, own)| own).unwrap_or_default();
        if own.len() == MAX_PLANS {
            own.pop_front();
        }
        own.push_back(Arc::clone(&plan));
        if by_browser.len() == MAX_BROWSERS {
            by_browser.pop_front();
        }
        by_browser.push_back((browser.clone(), own));
        plan
    }

    /// A plan that this browser has asked for.
    pub(in crate::dashboard) fn find(&self, browser: &Browser, id: u64) -> Option<Arc<Plan>> {
        let plans = self.plans();
        let (_, own) = plans.by_browser.iter().find(|(it, _)| it == browser)?;
        own.iter().find(|it| it.id == id).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, Plans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
