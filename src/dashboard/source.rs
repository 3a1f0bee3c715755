//! Where the pages have it from: a cluster that is followed through a client, or a controller that
//! knows it anyway.

use std::{convert::Infallible, fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    clock::Clock,
    read::{FindError, SeenEvent, events_in, events_of},
};
use dayshift_controller::{CalendarFeed, Telemetry};
use dayshift_workload::{WorkloadRef, savings::Price};
use kube::Client;
use tokio::time::timeout;

use super::{
    entrance::{Entrance, Keyed, Visitor},
    followed::Followed,
    guard::Hosts,
    login::Users,
    pages::Events,
    plan::Actions,
    published::Published,
    view::View,
};
use crate::dashboard::{
    published::Turn,
    view::{SavingsSource, Settings},
};

/// A cluster as its pages show it.
pub struct Dashboard {
    pub(super) settings: Settings,
    pub(super) savings: SavingsSource,
    /// What a request must name.
    pub(super) hosts: Hosts,
    pub(super) clock: Clock,
    pub(super) entrance: Entrance,
    /// What may be done from the pages, if anything may.
    pub(super) actions: Option<Actions>,
    pub(super) source: ViewSource,
}

/// Where the pages have it from.
pub(super) enum ViewSource {
    /// A cluster that is followed.
    Cluster(Box<Followed>),
    /// What a controller in this process knows: nothing is asked of the API server.
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

/// How long a page waits for Events.
const EVENTS_TIMEOUT: Duration = Duration::from_secs(5);
impl Dashboard {
    /// One that has seen nothing yet.
    pub fn new(client: Client, clock: Clock, settings: Settings) -> Self {
        let followed = Followed::new(client, &settings);
        Self::from(ViewSource::Cluster(Box::new(followed)), clock, settings)
    }

    /// One that shows what a controller knows, whenever somebody looks.
    pub fn for_controller(
        telemetry: Arc<Telemetry>,
        calendars: CalendarFeed,
        clock: Clock,
        settings: Settings,
    ) -> Self {
        let published = Published::new(Arc::clone(&telemetry), calendars);
        Self::from(ViewSource::Controller(published), clock, settings).counted_by(telemetry)
    }

    /// Waits until a page may be made, where that is to be bounded.
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
        }
    }

    /// The same with the account of what is saved that the controller of this cluster keeps.
    #[must_use]
    pub fn counted_by(mut self, telemetry: Arc<Telemetry>) -> Self {
        self.savings.counted_by = Some(telemetry);
        self
    }

    /// The same with calendars that may change while a cluster is followed. Others may be named:
    /// only the scaler knows their dates.
    #[must_use]
    pub fn with_calendars(mut self, calendars: CalendarFeed) -> Self {
        if let ViewSource::Cluster(followed) = &mut self.source {
            followed.calendars = Some(calendars);
        }
        self
    }

    /// The same with what CPU and memory cost, where that is known.
    #[must_use]
    pub fn at_price(mut self, price: Option<Arc<Price>>) -> Self {
        self.savings.price = price;
        self
    }

    /// The same on loopback for whoever has the key of [`Self::url`], who may ask for wake, sleep,
    /// pause and resume with the client's rights. Requests must name this port of a loopback
    /// address: a page of somebody else that has its name resolved to this machine is answered
    /// nothing.
    ///
    /// # Errors
    /// Where the system gives nothing random, or a controller shows what it knows: it has no client.
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

    /// The same for the users that a proxy names: each sees what the API server lets them list, and
    /// with `is_acting` asks for wake, sleep, pause and resume with their own rights. Any `Host` may
    /// be named: it is the proxy's.
    #[must_use]
    pub fn for_users(self, users: Users, is_acting: bool) -> Self {
        Self {
            hosts: Hosts::Any,
            entrance: Entrance::Users(Box::new(users)),
            actions: is_acting.then(Actions::default),
            ..self
        }
    }

    /// What is to be opened where it listens here: with the key, where there is one.
    pub fn url(&self, address: SocketAddr) -> String {
        self.entrance.url(address)
    }

    /// The same on loopback where others lead a port of their own to it, as `kubectl port-forward`
    /// does.
    #[must_use]
    pub fn behind_loopback(self) -> Self {
        Self {
            hosts: Hosts::Loopback,
            ..self
        }
    }

    /// Follows the cluster, for as long as that is possible; for ever where a controller does.
    ///
    /// # Errors
    /// What no new try can fix, such as a permission that is missing. What was seen is still
    /// shown, and this with it.
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

    /// Does what is asked for by the pages, if anything may be.
    async fn work(&self) -> Infallible {
        match &self.actions {
            Some(actions) => actions.work(&self.settings).await,
            None => std::future::pending().await,
        }
    }

    /// What the pages show now.
    pub async fn view(&self) -> Arc<View> {
        match &self.source {
            ViewSource::Cluster(followed) => followed.view(&self.settings, &self.clock),
            ViewSource::Controller(published) => published.view(&self.settings, &self.clock).await,
        }
    }

    /// What a visitor sees now, and the turn to make a page of it. Only what they may read is there.
    ///
    /// # Errors
    /// Where the API server does not say what that is.
    pub(super) async fn seen_by(
        &self,
        visitor: Option<&Visitor>,
    ) -> Result<(Option<Turn>, Arc<View>), FindError> {
        let turn = self.turn().await;
        let view = self.view().await;
        let Some(session) = visitor.and_then(|visitor| visitor.session.as_ref()) else {
            return Ok((turn, view));
        };
        // Nobody else waits while the API server is asked.
        drop(turn);
        let readable = session
            .readable(&view, &self.settings.query.kinds())
            .await?;
        let turn = self.turn().await;
        if readable.is_all {
            return Ok((turn, view));
        }
        let part = view.only(self.settings.zone, |object| readable.includes(object));
        Ok((turn, Arc::new(part)))
    }

    /// The time, by the clock that the schedules are followed by.
    pub(super) fn now(&self) -> DateTime<Utc> {
        let ahead = match &self.source {
            ViewSource::Cluster(followed) => followed.ahead(),
            ViewSource::Controller(_) => TimeDelta::zero(),
        };
        self.clock.now() + ahead
    }

    /// The Events of an object, as far as they can be read in time; none where nothing is asked of
    /// the API server.
    pub(super) async fn events(&self, object: &WorkloadRef) -> Events {
        let ViewSource::Cluster(followed) = &self.source else {
            return None;
        };
        Some(in_time(events_of(&followed.client, object)).await)
    }

    /// The same of dayshift's own Events in a namespace.
    pub(super) async fn events_in(&self, namespace: &str) -> Events {
        let ViewSource::Cluster(followed) = &self.source else {
            return None;
        };
        Some(in_time(events_in(&followed.client, namespace)).await)
    }
}

async fn in_time(
    events: impl Future<Output = Result<Vec<SeenEvent>, FindError>>,
) -> Result<Vec<SeenEvent>, FindError> {
    timeout(EVENTS_TIMEOUT, events).await.unwrap_or_else(|_| {
        let reason = "the API server does not answer in time".to_owned();
        Err(FindError::Unavailable(reason))
    })
}
