//! Posted forms: the preview of an action, and its confirmation.

use std::{collections::BTreeSet, sync::Arc};

use dayshift_cluster::read::{FindError, NamespaceDefaults, may_patch_namespace};
use dayshift_operations::{OverrideRequest, RequestedOverride, Restore, ScheduleEdit, Shorten};
use dayshift_workload::Prefix;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use tokio::sync::oneshot;

use crate::dashboard::{
    answer::{UNASKED, html, unasked},
    carry_out::{namespaces, selected},
    entrance::{Identity, Visitor},
    form::{ActionForm, RequestedAction},
    guard::{FormSender, body, is_ours},
    pages::failure,
    params::Params,
    plan::{ActionJob, ActionRequest, Actions, Operation, PlanPhase, Preview, ScheduleRequest},
    source::{Dashboard, ViewSource},
    view::{Row, View},
};

type PageResponse = Response<Full<Bytes>>;

impl Dashboard {
    /// Handles a form that was posted to `/confirm` or, if `is_confirmed`, to `/act`.
    pub(crate) async fn posted<B>(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        headers: &HeaderMap,
        sent: B,
        is_confirmed: bool,
        params: &Params,
    ) -> PageResponse
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let refuse =
            |(status, message): (StatusCode, &str)| html(status, failure(params, status, message));
        let sender = match visitor.identity {
            Identity::Browser(_) => FormSender::Local,
            Identity::User(_) => FormSender::Proxied,
        };
        if let Err(refused) = is_ours(headers, sender) {
            return refuse(refused);
        }
        let form = match body(sent, sender).await {
            Ok(body) => ActionForm::parse(&body),
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

    /// Renders the preview of an action.
    async fn confirm(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        mut form: ActionForm,
        params: &Params,
    ) -> Result<PageResponse, (StatusCode, String)> {
        let refused = |error: FindError| (UNASKED, unasked(&error));
        let mut seen = self.seen_by(Some(visitor)).await.map_err(refused)?;
        if let Some(query) = form.matching.take() {
            let params = Params::parse(&query, &seen.view.context.tzdata);
            self.resolve_labels(&mut seen, Some(visitor), &params).await;
            if let Err(error) = &seen.labeled {
                return Err((StatusCode::BAD_REQUEST, error.clone()));
            }
            let page = self.page_of(&seen, &params, Some(visitor));
            let names = page.matching().into_iter().map(Row::form_name);
            form.objects.extend(names);
        }
        let turn = seen.turn.take();
        let view = Arc::clone(&seen.view);
        let page = self.page_of(&seen, params, Some(visitor));
        let requested = match form.undone_plan() {
            Some(id) => {
                let plan = actions.find(&visitor.identity, id);
                let plan = plan.filter(|plan| plan.progress().phase == PlanPhase::Done);
                let plan = plan.ok_or_else(|| {
                    let message = "The result of that action is no longer kept, so it cannot be undone \
                                   here.";
                    (StatusCode::CONFLICT, message.to_owned())
                })?;
                (form.objects, form.namespaces) = page.changed_by(&plan);
                let former = Arc::new(plan.former_overrides());
                Ok(RequestedAction::Override(RequestedOverride::Undo(former)))
            }
            None => form.requested(view.now),
        };
        let requested = match requested {
            Ok(requested) => requested,
            Err(error) => {
                let page = page.asked_again(&form, &error);
                return Ok(html(StatusCode::BAD_REQUEST, page));
            }
        };
        if let RequestedAction::Schedule(_) = requested
            && let Some(page) = page.rejected_schedule(&form)
        {
            return Ok(html(StatusCode::BAD_REQUEST, page));
        }
        // Other pages can be rendered while the API server is asked.
        drop(turn);
        let settings = &self.settings;
        let form = match requested {
            RequestedAction::Override(_) => {
                let spelled_out = spelled_out(form, &view, visitor).await;
                spelled_out.map_err(refused)?
            }
            // Saved counts are labels of the workloads.
            RequestedAction::Restore => stopped_workloads(form, &view),
            RequestedAction::Schedule(_) => form,
        };
        // A namespace might have expanded to too many workloads.
        if form.is_too_much()
            && let Err(error) = form.requested(view.now)
        {
            return Err((StatusCode::BAD_REQUEST, error));
        }
        let operation = operation(requested, &form, &view, &settings.prefix);
        let (mut selection, mut missing) = selected(&form, &view, settings);
        selection.defaults = match &self.source {
            ViewSource::Cluster(followed) => followed.defaults(),
            ViewSource::Controller(_) => {
                let (client, query) = (&visitor.client, &selection.query);
                NamespaceDefaults::find(client, query, &settings.prefix).await
            }
        };
        let waiting = view.rows.iter().filter(|row| row.status.waits_for_slot());
        let waiting_starts = waiting.count();
        let (namespaces, unknown) = namespaces(&form, &view);
        missing.extend(unknown);
        let asked = Arc::new(ActionRequest {
            client: visitor.client.clone(),
            operation,
            selection,
            missing,
            namespaces,
            waiting_starts,
        });
        let planned = planned(actions, visitor, &asked).await?;
        let plan = actions.remember(&visitor.identity, asked, planned);
        let _turn = self.turn().await;
        Ok(html(StatusCode::OK, page.confirmation(&plan)))
    }

    /// Starts a confirmed action once, and redirects to the page with its result.
    async fn act(
        &self,
        (actions, visitor): (&Actions, &Visitor),
        form: &ActionForm,
        params: &Params,
    ) -> Result<PageResponse, (StatusCode, String)> {
        let again = || {
            let message = "This preview is too old, so nothing was done. Open it again.";
            (StatusCode::CONFLICT, message.to_owned())
        };
        let plan = form
            .plan
            .and_then(|id| actions.find(&visitor.identity, id))
            .ok_or_else(again)?;
        let is_new = plan.progress().phase == PlanPhase::Preview;
        if is_new && !plan.is_fresh(self.now()) {
            return Err(again());
        }
        let shorten = match form.shortens {
            true => Shorten::Allowed,
            false => Shorten::Forbidden,
        };
        if is_new && plan.planned.changes.is_empty() {
            let message = "This preview has no change to confirm, so nothing was done.";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        }
        if is_new && plan.planned.count(shorten) == 0 {
            let message = "This would end an override earlier than planned, so nothing was done. \
                           Confirm that with the button of the preview.";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        }
        let under_way = match &visitor.session {
            Some(session) if is_new => {
                let permit = Arc::clone(&session.actions).try_acquire_owned();
                let permit = permit.map_err(|_| {
                    let message = "Earlier actions of yours are still under way, so nothing was done. Wait \
                                   until they have ended.";
                    (StatusCode::CONFLICT, message.to_owned())
                })?;
                Some(permit)
            }
            _ => None,
        };
        let to = params.link(&format!("/result/{}", plan.id));
        let seen = self.seen_by(Some(visitor)).await;
        let seen = seen.map_err(|error| (UNASKED, unasked(&error)))?;
        if plan.begin(shorten) {
            if let Some(user) = visitor.user_name() {
                let action = plan.asked.operation.command();
                let workloads = plan.planned.count(shorten);
                tracing::info!(user, action, workloads, "a user of the dashboard acts");
            }
            actions
                .jobs
                .send(ActionJob::CarryOut(Arc::clone(&plan), seen.view, under_way));
        }
        // After a redirect, reloading the page shows the result and does not repeat the action.
        let mut response = html(StatusCode::SEE_OTHER, String::new());
        if let Ok(to) = HeaderValue::try_from(to) {
            response.headers_mut().insert(header::LOCATION, to);
        }
        Ok(response)
    }
}

/// Replaces Namespaces by the workloads in them that have something to restore.
fn stopped_workloads(form: ActionForm, view: &View) -> ActionForm {
    let mut spelled_out = form;
    let namespaces = std::mem::take(&mut spelled_out.namespaces);
    for name in namespaces {
        let rows = view.rows_of(&name);
        if rows.is_empty() {
            spelled_out.namespaces.insert(name);
            continue;
        }
        let stopped = rows.into_iter().filter(|row| row.has_saved());
        spelled_out.objects.extend(stopped.map(Row::form_name));
    }
    spelled_out
}

/// Replaces Namespaces that the user may not patch by their workloads. With the role `edit`, users may change
/// the workloads but not the Namespace.
async fn spelled_out(
    form: ActionForm,
    view: &View,
    visitor: &Visitor,
) -> Result<ActionForm, FindError> {
    let mut spelled_out = ActionForm {
        namespaces: BTreeSet::new(),
        ..form
    };
    for name in form.namespaces {
        let rows = view.rows_of(&name);
        let may = match may_patch_namespace(&visitor.client, &name).await {
            // The user's own client gets the error again when it patches.
            Err(_) if visitor.session.is_none() => true,
            may => may?,
        };
        if rows.is_empty() || may {
            spelled_out.namespaces.insert(name);
        } else {
            let names = rows.iter().map(|row| row.form_name());
            spelled_out.objects.extend(names);
        }
    }
    Ok(spelled_out)
}

/// The operation of a requested action.
fn operation(
    requested: RequestedAction,
    form: &ActionForm,
    view: &View,
    prefix: &Prefix,
) -> Operation {
    let (prefix, now) = (prefix.clone(), view.now);
    match requested {
        RequestedAction::Override(requested) => Operation::Override(OverrideRequest {
            requested,
            context: view.context.clone(),
            prefix,
            now,
            reason: form.reason(),
            shorten: Shorten::Forbidden,
            dry_run: false,
            until_ready: false,
        }),
        RequestedAction::Restore => Operation::Restore(Restore {
            prefix,
            now,
            dry_run: false,
        }),
        RequestedAction::Schedule(annotations) => Operation::Schedule(ScheduleRequest {
            edit: ScheduleEdit {
                annotations,
                schedules: view.named_schedules(),
            },
            prefix,
            now,
        }),
    }
}

/// Waits until the changes of a request are planned. Each user can wait for a few previews at once.
async fn planned(
    actions: &Actions,
    visitor: &Visitor,
    asked: &Arc<ActionRequest>,
) -> Result<Preview, (StatusCode, String)> {
    let permit = match &visitor.session {
        Some(session) => {
            let permit = Arc::clone(&session.previews).try_acquire_owned();
            Some(permit.map_err(|_| {
                let message = "Earlier previews of yours are not complete. Wait until they are.";
                (StatusCode::TOO_MANY_REQUESTS, message.to_owned())
            })?)
        }
        None => None,
    };
    let (answer, planned) = oneshot::channel();
    actions
        .jobs
        .send(ActionJob::Plan(Arc::clone(asked), answer, permit));
    planned.await.map_err(|_| {
        let message = "The dashboard has stopped watching the cluster, so nothing was done.";
        (StatusCode::SERVICE_UNAVAILABLE, message.to_owned())
    })
}
