//! What is kept of a user from one request to the next.

use std::{io, sync::Arc, time::Duration};

use dayshift_cluster::read::FindError;
use dayshift_workload::Kind;
use kube::Client;
use tokio::{sync::Mutex, time::Instant};

use super::{readable::Readable, user::User};
use crate::dashboard::{token::Token, view::View};

/// How long the API server's answers about what a user may read count. (It keeps those of a webhook
/// for five minutes itself.)
const KEPT: Duration = Duration::from_secs(60);

/// A user, and what is known of them.
pub(crate) struct Session {
    pub(crate) user: User,
    /// Acts as them.
    pub(crate) client: Client,
    /// What their forms carry: nobody else knows it.
    pub(crate) token: Arc<Token>,
    readable: Mutex<Option<(Instant, Arc<Readable>)>>,
}

impl Session {
    pub(super) fn new(user: User, client: Client) -> io::Result<Self> {
        Ok(Self {
            user,
            client,
            token: Arc::new(Token::random()?),
            readable: Mutex::default(),
        })
    }

    /// What of these kinds in a view they may list, as of the last minute.
    ///
    /// # Errors
    /// Where the API server does not say.
    pub(crate) async fn readable(
        &self,
        view: &View,
        kinds: &[Kind],
    ) -> Result<Arc<Readable>, FindError> {
        let mut known = self.readable.lock().await;
        let now = Instant::now();
        if let Some((asked, readable)) = &*known
            && now - *asked < KEPT
        {
            return Ok(Arc::clone(readable));
        }
        let objects = view.rows.iter().map(|row| &row.status.object);
        let readable = Arc::new(Readable::ask(&self.client, kinds, objects).await?);
        // Before all workloads are known, not all has been asked.
        *known = view.is_complete.then(|| (now, Arc::clone(&readable)));
        Ok(readable)
    }
}
