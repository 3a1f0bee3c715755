//! What is answered to a posted form.

use std::{collections::BTreeSet, sync::Arc};

use dayshift_cluster::read::{FindError, NamespaceDefaults, may_patch_namespace};
use dayshift_operations::OverrideRequest;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use tokio::sync::oneshot;

use super::{
    carry_out::{namespaces, selected},
    form::Form,
    gate::{Sender, body, is_ours},
    jobs::Job,
    pending::Actions,
    plan::Asked,
};
use crate::dashboard::{
    answer::{UNASKED, html, unasked},
    entrance::{Identity, Visitor},
    pages::failure,
    params::Params,
    source::{Dashboard, Source},
    view::View,
};

type Answer = Response<Full<Bytes>>;

impl Dashboard {
    /// The answer to a form that was posted to `/confirm` or, with `is_confirmed`, to `/act`.
    pub(crate) async fn posted<B>(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        headers: &HeaderMap,
        sent: B,
        is_confirmed: bool,
        params: &Params,
    ) -> Answer
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse =
            |(status, message): (StatusCode, &str)| html(status, failure(params, status, message));
        let sender = match visitor.identity {
            Identity::Browser(_) => Sender::Local,
            Identity::User(_) => Sender::Proxied,
        };
        if let Err(refused) = is_ours(headers, sender) {
            return refuse(refused);
        }
        let form = match body(sent, sender).await {
            Ok(body) => Form::parse(&body),
            Err(refused) => return refuse(refused),
        };
        if !visitor.token.is(&form.token) {
            let message =
                "This page was loaded before the dashboard was started again. Load it again.";
            return refuse((StatusCode::FORBIDDEN, message));
        }
        let done = if is_confirmed {
            self.act((actions, visitor), &form, params).await
        } else {
            self.confirm((actions, visitor), form, params).await
        };
        done.unwrap_or_else(|(status, message)| refuse((status, &message)))
    }

    /// The page that says what will change.
    async fn confirm(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        form: Form,
        params: &Params,
    ) -> Result<Answer, (StatusCode, String)> {
        let refused = |error: FindError| (UNASKED, unasked(&error));
        let (turn, view) = self.seen_by(Some(visitor)).await.map_err(refused)?;
        let page = self.page_of(&view, params, Some(visitor));
        let requested = match form.requested(view.now) {
            Ok(requested) => requested,
            Err(error) => {
                let page = page.asked_again(&form, &error);
                return Ok(html(StatusCode::BAD_REQUEST, page));
            }
        };
        // Others may look while the API server is asked.
        drop(turn);
        let settings = &self.settings;
        let form = match &visitor.session {
            Some(_) => spelled_out(form, &view, visitor).await.map_err(refused)?,
            None => form,
        };
        // The workloads of a namespace may be too many.
        if let Err(error) = form.requested(view.now) {
            return Err((StatusCode::BAD_REQUEST, error));
        }
        let request = OverrideRequest {
            requested,
            context: view.context.clone(),
            prefix: settings.prefix.clone(),
            now: view.now,
            reason: form.reason(),
            dry_run: false,
            until_ready: false,
        };
        let (mut selection, mut missing) = selected(&form, &view, settings);
        selection.defaults = match &self.source {
            Source::Cluster(followed) => followed.defaults(),
            Source::Controller(_) => {
                let (client, query) = (&visitor.client, &selection.query);
                NamespaceDefaults::find(client, query, &settings.prefix).await
            }
        };
        let (namespaces, unknown) = namespaces(&form, &view);
        missing.extend(unknown);
        let asked = Arc::new(Asked {
            client: visitor.client.clone(),
            request,
            selection,
            missing,
            namespaces,
        });
        let (answer, planned) = oneshot::channel();
        actions.jobs.send(Job::Plan(Arc::clone(&asked), answer));
        let ended = |_| {
            let message =
                "The dashboard has stopped watching the cluster, so nothing was done.".to_owned();
            (StatusCode::SERVICE_UNAVAILABLE, message)
        };
        let planned = planned.await.map_err(ended)?;
        let plan = actions.remember(&visitor.identity, asked, planned);
        Ok(html(StatusCode::OK, page.confirmation(&plan)))
    }

    /// Begins what was confirmed, once, and leads to the page of its result.
    async fn act(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        form: &Form,
        params: &Params,
    ) -> Result<Answer, (StatusCode, String)> {
        let again = || {
            let message = "This preview is too old, so nothing was done. Open it again.";
            (StatusCode::CONFLICT, message.to_owned())
        };
        let plan = form
            .plan
            .and_then(|id| actions.find(&visitor.identity, id))
            .ok_or_else(again)?;
        let is_new = plan.progress().phase == super::Phase::Planned;
        if is_new && !plan.is_fresh(self.now()) {
            return Err(again());
        }
        let to = params.common().link(&format!("/result/{}", plan.id));
        let seen = self.seen_by(Some(visitor)).await;
        let (_, view) = seen.map_err(|error| (UNASKED, unasked(&error)))?;
        if plan.begin() {
            if let Some(user) = visitor.user_name() {
                let action = plan.requested().command();
                let workloads = plan.planned.reached();
                tracing::info!(user, action, workloads, "a user of the dashboard acts");
            }
            actions.jobs.send(Job::CarryOut(Arc::clone(&plan), view));
        }
        // A page that is loaded again asks for the result, and does nothing twice.
        let mut response = html(StatusCode::SEE_OTHER, String::new());
        if let Ok(to) = HeaderValue::try_from(to) {
            response.headers_mut().insert(header::LOCATION, to);
        }
        Ok(response)
    }
}

/// The form with the workloads of a namespace in place of one that the user may not patch: who has
/// `edit` in a namespace may change all that is in it, and not the Namespace.
async fn spelled_out(form: Form, view: &View, visitor: &Visitor) -> Result<Form, FindError> {
    let mut spelled_out = Form {
        namespaces: BTreeSet::new(),
        ..form
    };
    for name in form.namespaces {
        let rows = view.rows_of(&name);
        if rows.is_empty() || may_patch_namespace(&visitor.client, &name).await? {
            spelled_out.namespaces.insert(name);
        } else {
            let names = rows.iter().map(|row| row.form_name());
            spelled_out.objects.extend(names);
        }
    }
    Ok(spelled_out)
}
