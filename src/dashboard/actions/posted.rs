//! What is answered to a posted form.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use tokio::sync::oneshot;

use super::{
    carry_out::{namespaces, selected},
    form::Form,
    gate::{body, is_ours},
    jobs::Job,
    pending::Actions,
    plan::Asked,
};
use crate::{
    dashboard::{
        access::Browser,
        answer::html,
        pages::{Page, failure},
        params::Params,
        source::{Dashboard, Source},
    },
    operations::OverrideRequest,
};

type Answer = Response<Full<Bytes>>;

impl Dashboard {
    /// The answer to a form that was posted to `/confirm` or, with `is_confirmed`, to `/act`.
    pub(in crate::dashboard) async fn posted<B>(
        &self,
        (actions, browser): (&Actions, &Browser),
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
        if let Err(refused) = is_ours(headers) {
            return refuse(refused);
        }
        let form = match body(sent).await {
            Ok(body) => Form::parse(&body),
            Err(refused) => return refuse(refused),
        };
        if !actions.token.is(&form.token) {
            let message =
                "This page was loaded before the dashboard was started again. Load it again.";
            return refuse((StatusCode::FORBIDDEN, message));
        }
        let done = if is_confirmed {
            self.act((actions, browser), &form, params).await
        } else {
            self.confirm((actions, browser), &form, params).await
        };
        done.unwrap_or_else(|(status, message)| refuse((status, &message)))
    }

    /// The page that says what will change.
    async fn confirm(
        &self,
        (actions, browser): (&Actions, &Browser),
        form: &Form,
        params: &Params,
    ) -> Result<Answer, (StatusCode, String)> {
        let view = self.view().await;
        let page = Page {
            view: &view,
            params,
            settings: &self.settings,
            token: Some(actions.token.text()),
        };
        let requested = match form.requested(view.now) {
            Ok(requested) => requested,
            Err(error) => {
                let page = page.asked_again(form, &error);
                return Ok(html(StatusCode::BAD_REQUEST, page));
            }
        };
        let Source::Cluster(followed) = &self.source else {
            return Err((StatusCode::NOT_FOUND, "There is no such page.".to_owned()));
        };
        let settings = &self.settings;
        let request = OverrideRequest {
            requested,
            context: view.context.clone(),
            prefix: settings.prefix.clone(),
            now: view.now,
            reason: form.reason(),
            dry_run: false,
            until_ready: false,
        };
        let (selection, mut missing) = selected(form, &view, followed.defaults(), settings);
        let (namespaces, unknown) = namespaces(form, &view);
        missing.extend(unknown);
        let asked = Arc::new(Asked {
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
        let plan = actions.remember(browser, asked, planned.await.map_err(ended)?);
        Ok(html(StatusCode::OK, page.confirmation(&plan)))
    }

    /// Begins what was confirmed, once, and leads to the page of its result.
    async fn act(
        &self,
        (actions, browser): (&Actions, &Browser),
        form: &Form,
        params: &Params,
    ) -> Result<Answer, (StatusCode, String)> {
        let again = || {
            let message = "This preview is too old, so nothing was done. Open it again.";
            (StatusCode::CONFLICT, message.to_owned())
        };
        let plan = form
            .plan
            .and_then(|id| actions.find(browser, id))
            .ok_or_else(again)?;
        let is_new = plan.progress().phase == super::Phase::Planned;
        if is_new && !plan.is_fresh(self.now()) {
            return Err(again());
        }
        let to = params.common().link(&format!("/result/{}", plan.id));
        let view = self.view().await;
        if plan.begin() {
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
