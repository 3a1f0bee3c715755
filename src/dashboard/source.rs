//! [`Dashboard`], and the source of its data: a followed cluster, or the controller in this process.

use std::{convert::Infallible, fmt, io, net::SocketAddr, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{clock::Clock, read::FindError};
use dayshift_controller::{CalendarFeed, Telemetry};
use dayshift_workload::savings::Price;
use kube::Client;

use super::{
    entrance::{Entrance, Keyed, Visitor},
    events::{EventSubject, RecentEvents},
    followed::Followed,
    guard::Hosts,
    labels::{LabelFilters, LabelMatches},
    login::Users,
    pages::Events,
    params::Params,
    permissions::{Permissions, Verb, kinds_of, places},
    plan::Actions,
    published::Published,
    view::View,
};
use crate::dashboard::{
    published::Turn,
    view::{Row, SavingsSource, Settings},
};

/// The dashboard of one cluster.
pub struct Dashboard {
    pub(super) settings: Settings,
    pub(super) savings: SavingsSource,
    /// The accepted `Host` values.
    pub(super) hosts: Hosts,
    pub(super) clock: Clock,
    pub(super) entrance: Entrance,
    /// The actions, if the pages allow any.
    pub(super) actions: Option<Actions>,
    pub(super) source: ViewSource,
    labels: LabelFilters,
    recent_events: RecentEvents,
}

/// The source of the data.
pub(super) enum ViewSource {
    /// A cluster that is followed through a client.
    Cluster(Box<Followed>),
    /// The controller in this process. The API server is not asked.
    Controller(Published),
}

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        f.debug_struct("Dashboard")
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

/// What a visitor sees.
pub(super) struct Seen {
    /// The turn to render it, if the pages share a process with a controller.
    pub(super) turn: Option<Turn>,
    pub(super) view: Arc<View>,
    /// The workloads that the visitor may change. `None` if that is unknown.
    pub(super) patchable: Option<Arc<Permissions>>,
    /// The workloads that the label filters select, if there are any; or why they are unknown.
    pub(super) labeled: Result<Option<LabelMatches>, String>,
}

impl Dashboard {
    /// A dashboard that follows a cluster when [`Self::follow`] is polled.
    pub fn new(client: Client, clock: Clock, settings: Settings) -> Self {
        let followed = Followed::new(client, &settings);
        Self::from(ViewSource::Cluster(Box::new(followed)), clock, settings)
    }

    /// A dashboard of the controller in this process.
    pub fn for_controller(
        telemetry: Arc<Telemetry>,
        calendars: CalendarFeed,
        clock: Clock,
        settings: Settings,
    ) -> Self {
        let published = Published::new(Arc::clone(&telemetry), calendars);
        Self::from(ViewSource::Controller(published), clock, settings).counted_by(telemetry)
    }

    /// Waits for a turn if the pages share a process with a controller.
    pub(super) async fn turn(&self) -> Option<Turn> {
        match &self.source {
            ViewSource::Cluster(_) => None,
            ViewSource::Controller(published) => Some(published.pace.turn().await),
        }
    }

    fn from(source: ViewSource, clock: Clock, settings: Settings) -> Self {
        Self {
            settings,
            savings: SavingsSource::default(),
            hosts: Hosts::Any,
            clock,
            entrance: Entrance::Open,
            actions: None,
            source,
            labels: LabelFilters::default(),
            recent_events: RecentEvents::default(),
        }
    }

    /// Adds the savings that the controller has recorded.
    #[must_use]
    pub fn counted_by(mut self, telemetry: Arc<Telemetry>) -> Self {
        self.savings.counted_by = Some(telemetry);
        self
    }

    /// Adds calendars that can change. Unknown calendar names are accepted, because only the controller knows
    /// their dates.
    #[must_use]
    pub fn with_calendars(mut self, calendars: CalendarFeed) -> Self {
        if let ViewSource::Cluster(followed) = &mut self.source {
            followed.calendars = Some(calendars);
        }
        self
    }

    /// Adds the price of CPU and memory.
    #[must_use]
    pub fn at_price(mut self, price: Option<Arc<Price>>) -> Self {
        self.savings.price = price;
        self
    }

    /// Requires the key in [`Self::url`], and allows wake, sleep, pause and resume with the client's
    /// permissions. The `Host` must be a loopback address with this port, which prevents DNS rebinding.
    ///
    /// # Errors
    ///
    /// The system has no random numbers, or the dashboard belongs to a controller and has no client.
    pub fn for_one_user(self, port: u16) -> io::Result<Self> {
        let ViewSource::Cluster(followed) = &self.source else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let keyed = Keyed::at(port, followed.client.clone())?;
        Ok(Self {
            hosts: Hosts::LoopbackAt(port),
            entrance: Entrance::Key(Box::new(keyed)),
            actions: Some(Actions::default()),
            ..self
        })
    }

    /// Requires a user from an authenticating proxy. Users see the workloads that they may list, and can
    /// wake, sleep, pause and resume with their own permissions. The `Host` can be anything, because the
    /// proxy sets it.
    #[must_use]
    pub fn for_users(self, users: Users) -> Self {
        Self {
            hosts: Hosts::Any,
            entrance: Entrance::Users(Box::new(users)),
            actions: Some(Actions::default()),
            ..self
        }
    }

    /// Disables all actions, as for a controller that makes no changes.
    #[must_use]
    pub fn without_actions(self) -> Self {
        Self {
            actions: None,
            ..self
        }
    }

    /// The address to open, with the key if one is required.
    pub fn url(&self, address: SocketAddr) -> String {
        self.entrance.url(address)
    }

    /// The address to open in a browser that this program starts: a key in it works once.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn url_once(&self, address: SocketAddr) -> io::Result<String> {
        self.entrance.url_once(address)
    }

    /// Accepts any port of a loopback address, as `kubectl port-forward` needs.
    #[must_use]
    pub fn behind_loopback(self) -> Self {
        Self {
            hosts: Hosts::Loopback,
            ..self
        }
    }

    /// Follows the cluster. For a controller, it never returns.
    ///
    /// # Errors
    ///
    /// An error that a retry cannot fix, such as a missing permission. The pages continue to show the last
    /// state, with this error.
    pub async fn follow(&self) -> Result<Infallible, FindError> {
        match &self.source {
            ViewSource::Cluster(followed) => {
                let ended = tokio::select! {
                    ended = followed.follow(&self.settings, &self.clock) => ended,
                    never = self.work() => match never {},
                };
                if let Err(error) = &ended {
                    followed.end(error);
                }
                ended
            }
            ViewSource::Controller(published) => Ok(tokio::select! {
                never = published.forget(&self.clock) => never,
                never = self.work() => never,
            }),
        }
    }

    /// Carries out requested actions, if the pages allow any.
    async fn work(&self) -> Infallible {
        match &self.actions {
            Some(actions) => actions.work(self).await,
            None => std::future::pending().await,
        }
    }

    /// The current view.
    pub async fn view(&self) -> Arc<View> {
        match &self.source {
            ViewSource::Cluster(followed) => followed.view(&self.settings, &self.clock),
            ViewSource::Controller(published) => published.view(&self.settings, &self.clock).await,
        }
    }

    /// The part of the view that a visitor may see, and the permit to render it now.
    ///
    /// # Errors
    ///
    /// The API server does not answer which workloads the visitor may list.
    pub(super) async fn seen_by(&self, visitor: Option<&Visitor>) -> Result<Seen, FindError> {
        let turn = self.turn().await;
        let mut view = self.view().await;
        let Some(visitor) = visitor else {
            return Ok(Seen {
                turn,
                view,
                patchable: None,
                labeled: Ok(None),
            });
        };
        // Others can render while the API server is asked.
        drop(turn);
        if let Some(session) = &visitor.session {
            let kinds = self.settings.query.kinds();
            let readable = session.readable(&view, &kinds).await?;
            if !readable.is_all {
                let part = view.only(self.settings.zone, |object| readable.includes(object));
                view = Arc::new(part);
            }
        }
        let patchable = self.patchable(visitor, &view).await;
        Ok(Seen {
            turn: self.turn().await,
            view,
            patchable,
            labeled: Ok(None),
        })
    }

    /// Resolves the label filters of a page, with the visitor's permissions.
    pub(super) async fn resolve_labels(
        &self,
        seen: &mut Seen,
        visitor: Option<&Visitor>,
        params: &Params,
    ) {
        if params.label.is_none() && params.team.is_none() {
            return;
        }
        // Others can render while the API server is asked.
        drop(seen.turn.take());
        let client = match (visitor, &self.source) {
            (Some(visitor), _) => Some(&visitor.client),
            (None, ViewSource::Cluster(followed)) => Some(&followed.client),
            (None, ViewSource::Controller(_)) => None,
        };
        let Settings { query, prefix, .. } = &self.settings;
        let labeled = self
            .labels
            .resolve(client, query, prefix, params, &seen.view);
        seen.labeled = labeled.await;
        seen.turn = self.turn().await;
    }

    /// The workloads that a visitor may change, if the pages allow actions and this is known.
    async fn patchable(&self, visitor: &Visitor, view: &View) -> Option<Arc<Permissions>> {
        self.actions.as_ref()?;
        if !view.is_complete || view.outage.is_some() {
            return None;
        }
        let places = places(view.rows.iter().map(|row| &row.status.object));
        let kinds = kinds_of(&places);
        let ask = Permissions::ask(&visitor.client, Verb::Patch, &kinds, places);
        visitor.patchable.get(true, ask).await.ok()
    }

    /// The current time of the API server.
    pub(super) fn now(&self) -> DateTime<Utc> {
        let ahead = match &self.source {
            ViewSource::Cluster(followed) => followed.ahead(),
            ViewSource::Controller(_) => TimeDelta::zero(),
        };
        self.clock.now() + ahead
    }

    /// The Events of a page that shows these rows, or `None` if the API server is not asked.
    pub(super) async fn events(&self, subject: EventSubject, rows: &[&Row]) -> Events {
        let ViewSource::Cluster(followed) = &self.source else {
            return None;
        };
        let last = rows.iter().filter_map(|row| row.status.since).max();
        let known = self.recent_events.get(&followed.client, (subject, last));
        Some(known.await)
    }
}
