//! Unreadable resources are reported once with a fix, and the others are shown.

use std::io::{BufRead as _, BufReader};

use kube_in_memory::{Fault, Status};
use serde_json::{Deserializer, Value, json};

use super::{OFFICE, STOPPED, evening, state, watch::Watching};
use crate::rows::words;
use crate::{
    fake_server::{Cluster, refusal},
    program::start,
};

/// A Deployment and a CronJob without problems.
fn cluster() -> Cluster {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    cluster.cron_job("report", OFFICE);
    cluster
}

/// The message that CronJobs may not be listed.
fn no_cron_jobs(place: &str) -> String {
    format!(
        "error: CronJobs are not shown: not allowed to list CronJobs in {place}: {}; allow list \
         and watch of cronjobs.batch, or leave them out with --kinds deployments,statefulsets\n",
        refusal("list", "cronjobs")
    )
}

#[test]
fn reports_an_unreadable_kind_and_shows_the_others() {
    let cluster = cluster();
    cluster.refuse(&["list", "watch"], "cronjobs");
    for (arguments, place) in [
        (&[][..], "namespace dev"),
        (&["-A"], "all namespaces"),
        (&["-n", "dev"], "namespace dev"),
        (&["ns/dev"], "namespace dev"),
        (&["-l", "app=web"], "namespace dev"),
        (&["-o", "wide"], "namespace dev"),
        (&["-o", "json"], "namespace dev"),
    ] {
        let ran = cluster.dayshift(&[&["status"], arguments].concat());
        assert_eq!(ran.err, no_cron_jobs(place), "{arguments:?}");
        assert!(ran.out.contains("web"), "{arguments:?}: {ran:?}");
        assert_eq!(ran.status, 3, "{arguments:?}");
    }
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let error = no_cron_jobs("namespace dev");
    let (message, cure) = error.trim().split_once("; ").unwrap();
    let message = message.strip_prefix("error: ").unwrap();
    let expected = json!([{"resource": "cronjobs.batch", "message": message, "cure": cure}]);
    assert_eq!(ran.json()["unread"], expected);

    // The fix that the error recommends works.
    let ran = cluster.dayshift(&["status", "--kinds", "deployments,statefulsets"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    // A problem of another workload does not hide the error about unreadable ones.
    cluster.deployment("left", 0, &[]);
    state(&cluster, "left", &[("saved-replicas", "5")]);
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out("left stopped");
    assert_eq!(ran.status, 3);
}

#[test]
fn limits_nothing_found_to_readable_kinds() {
    let cluster = evening();
    cluster.refuse(&["list", "watch"], "cronjobs");
    let ran = cluster.dayshift(&["status"]);
    let nothing = "No workload has a schedule in namespace dev, as far as you may read it.\n";
    assert_eq!(ran.err, no_cron_jobs("namespace dev") + nothing);
    assert_eq!((ran.status, &*ran.out), (3, ""));
}

#[test]
fn without_any_readable_kind_there_is_one_error() {
    let cluster = cluster();
    cluster.refuse_all(
        &["list", "watch"],
        &["deployments", "statefulsets", "cronjobs"],
    );
    for arguments in [&["status", "-A"][..], &["status", "-A", "--watch"]] {
        let ran = cluster.dayshift(arguments);
        let expected = format!(
            "error: not allowed to list Deployments in all namespaces: {}\n",
            refusal("list", "deployments")
        );
        assert_eq!((ran.status, &*ran.out, ran.err), (3, "", expected));
    }
}

#[test]
fn unreadable_and_missing_objects_are_distinguished() {
    let cluster = cluster();
    cluster.refuse(&["get"], "cronjobs");
    let ran = cluster.dayshift(&["status", "deploy/web", "cj/report", "deploy/gone"]);
    let expected = format!(
        "error: cronjob.batch/report is not shown: not allowed to get CronJobs in namespace dev: \
         {}; allow get of cronjobs.batch\nerror: deployment.apps/gone is not in namespace dev\n",
        refusal("get", "cronjobs")
    );
    assert_eq!(ran.err, expected);
    ran.assert_out("web ");
    assert_eq!(ran.status, 3);

    let ran = cluster.dayshift(&["status", "deploy/web", "cj/a", "cj/b"]);
    let both = "error: cronjob.batch/a, cronjob.batch/b are not shown: not allowed to get";
    assert_starts_with!(ran.err, both);
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");

    let ran = cluster.dayshift(&["status", "cj/report"]);
    assert_starts_with!(ran.err, "error: not allowed to get CronJobs");
    assert_eq!((ran.status, &*ran.out), (3, ""));
}

#[test]
fn an_unserved_kind_does_not_hide_the_others() {
    let cluster = cluster();
    let kinds = "deployments,rollouts.argoproj.io";
    let ran = cluster.dayshift(&["status", "--kinds", kinds]);
    let output =
        "error: Rollouts are not shown: the API server does not have rollouts.argoproj.io: ";
    assert_starts_with!(ran.err, output);
    let cure = "; leave them out with --kinds deployments\n";
    assert_ends_with!(ran.err, cure);
    ran.assert_out("web ");
    assert_eq!((ran.status, ran.err.lines().count()), (3, 1));

    let mut watching = Watching::on(&cluster, &["--kinds", kinds]);
    watching.wait_for(output);
    watching.wait_for("web ");
}

/// Only a hint is missing; the status is the same.
#[test]
fn a_missing_hint_is_a_note() {
    let cluster = cluster();
    let hpas = format!(
        "HorizontalPodAutoscalers cannot be listed, so one that has not set a count yet is not \
            shown: {}",
        refusal("list", "horizontalpodautoscalers")
    );
    let cure = "allow list of horizontalpodautoscalers.autoscaling";
    cluster.refuse(&["list"], "horizontalpodautoscalers");
    for form in [&[][..], &["deploy/web"], &["-o", "wide"], &["-o", "json"]] {
        let ran = cluster.dayshift(&[&["status"], form].concat());
        let expected = format!("note: {hpas}; {cure}\n");
        assert_eq!((ran.status, ran.err), (0, expected), "{form:?}");
    }
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let resource = "horizontalpodautoscalers.autoscaling";
    let expected = json!([{"resource": resource, "message": hpas, "cure": cure}]);
    assert_eq!(ran.json()["unread"], expected);
}

/// Workloads record the values that they inherit, so Namespaces matter only if no workload is
/// shown.
#[test]
fn reports_unreadable_namespaces_only_without_workloads() {
    let cluster = cluster();
    cluster.refuse(&["get"], "namespaces");
    cluster.deployment("plain", 1, &[]);
    for form in [&[][..], &["deploy/web"], &["-o", "wide"]] {
        let ran = cluster.dayshift(&[&["status"], form].concat());
        assert_eq!((ran.status, &*ran.err), (0, ""), "{form:?}");
    }
    let note = format!(
        "note: Namespaces cannot be read, so a workload that inherits its schedule is shown only \
            after a controller has adopted it: {}; allow get and list of namespaces\n",
        refusal("get", "namespaces")
    );
    let ran = cluster.dayshift(&["status", "plain"]);
    let error = "error: deployment.apps/plain has no schedule\n";
    assert_eq!((ran.status, ran.err), (1, format!("{error}{note}")));
    cluster.api.delete("dev", "web").unwrap();
    cluster.api.delete_of("CronJob", "dev", "report").unwrap();
    for command in ["status", "plan -o table", "wake --all --for=1h"] {
        let ran = cluster.dayshift(&words(command));
        assert!(ran.err.contains(&note), "{command}: {ran:?}");
    }
}

/// For a resource that it does not serve, the API server also responds that it is forbidden.
#[test]
fn reports_unreadable_scaled_objects_only_with_keda() {
    let cluster = cluster();
    // This path belongs to no resource, so it is compared as it is.
    cluster.api.on_request(|request| {
        let is_it = request.resource.ends_with("scaledobjects");
        let message = refusal("list", "scaledobjects");
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
    });
    let ran = cluster.dayshift(&["status"]);
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let api = &cluster.api;
    api.serve_custom("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");
    let ran = cluster.dayshift(&["status"]);
    let expected = format!(
        "note: ScaledObjects cannot be listed, so one that has not set a count yet is not shown: \
         {}; allow list of scaledobjects.keda.sh\n",
        refusal("list", "scaledobjects")
    );
    assert_eq!((ran.status, ran.err), (0, expected));
}

#[test]
fn a_watch_adapts_to_changed_permissions() {
    let cluster = cluster();
    cluster.refuse(&["list", "watch"], "cronjobs");
    let mut watching = Watching::on(&cluster, &[]);
    let refused = "error: CronJobs are not shown: not allowed to ";
    watching.wait_for(refused);
    watching.wait_for("web ");
    cluster.api.clear_fault();
    watching.wait_for("cj/report ");
    cluster.refuse(&["list", "watch"], "cronjobs");
    cluster.api.close_watches();
    watching.wait_for(refused);
    loop {
        let line = watching.lines.next().unwrap().unwrap();
        assert_lacks!(line, "report");
        if line.contains("web ") {
            break;
        }
    }
}

#[test]
fn a_watch_distinguishes_unreadable_from_missing_names() {
    let cluster = cluster();
    cluster.refuse(&["list", "watch"], "cronjobs");
    let mut watching = Watching::on(&cluster, &["deploy/web", "cj/report", "deploy/gone"]);
    let mut output = Vec::new();
    loop {
        let line = watching.lines.next().unwrap().unwrap();
        if line.contains("web ") {
            break;
        }
        output.push(line);
    }
    let errors: Vec<_> = output
        .iter()
        .filter(|it| it.starts_with("error: "))
        .collect();
    let [report, gone] = errors[..] else {
        panic!("{output:?}");
    };
    assert_starts_with!(
        report,
        "error: cronjob.batch/report is not shown: not allowed to"
    );
    assert_eq!(gone, "error: deployment.apps/gone is not in namespace dev");
}

/// Programs read standard output, so each document there is complete. Messages on standard error
/// are written once.
#[test]
fn a_json_watch_reports_unreadable_kinds_on_standard_error() {
    let cluster = cluster();
    cluster.refuse_all(
        &["list", "watch", "get"],
        &["cronjobs", "horizontalpodautoscalers"],
    );
    let mut command = cluster.command();
    let mut program = start(command.args(["status", "--watch", "-o", "json"]));
    let out = BufReader::new(program.stdout.take().unwrap());
    let mut documents = Deserializer::from_reader(out).into_iter::<Value>();
    let mut names = || {
        let document = documents.next().unwrap().unwrap();
        let of = |key: &str, field: &str| {
            let all = document[key].as_array().unwrap().iter();
            all.map(|it| it[field].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        (of("workloads", "name"), of("unread", "resource"))
    };
    let unreadable = vec![
        "cronjobs.batch".to_owned(),
        "horizontalpodautoscalers.autoscaling".to_owned(),
    ];
    assert_eq!(names(), (vec!["web".to_owned()], unreadable.clone()));
    cluster.deployment("zoo", 0, OFFICE);
    let both = vec!["web".to_owned(), "zoo".to_owned()];
    let (mut seen, unread) = names();
    seen.sort();
    assert_eq!((seen, unread), (both, unreadable));
    program.kill().unwrap();
    program.wait().unwrap();
    let output = BufReader::new(program.stderr.take().unwrap()).lines();
    let output: Vec<_> = output.map(Result::unwrap).collect();
    let [cron_jobs, hpas] = &output[..] else {
        panic!("{output:?}");
    };
    assert!(cron_jobs.starts_with("error: CronJobs"), "{output:?}");
    assert!(hpas.starts_with("note: HorizontalPod"), "{output:?}");
}
