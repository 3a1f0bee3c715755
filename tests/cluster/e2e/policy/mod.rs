//! `manifests/policy`: the API server's own checks of annotations, compared with the parser.

mod texts;

use dayshift_workload::Key;
use futures::{StreamExt, stream};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, PostParams};

use crate::{
    e2e::policy::texts::{Numbers, SEEDS, changed, is_read},
    support::{
        ControlPlane, DeploymentBuilder, Namespace, Parts, Scenario, block_on, deployment,
        eventually, is_full, scenarios,
    },
};

const POLICY: &str = include_str!("../../../../manifests/policy/texts.yaml");

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        policy_accepts_every_value_that_the_parser_accepts,
        policy_accepts_every_time_zone,
        kubectl_apply_shows_the_message_of_the_policy,
        policy_costs_less_than_a_tenth_of_the_budget,
    ]
}

/// The policy in one namespace only, which denies; other scenarios have their own.
struct Policy<'a> {
    team: Namespace<'a>,
}

impl<'a> Policy<'a> {
    fn new(plane: &'a ControlPlane, name: &str, action: &str, most: u32) -> Self {
        let team = plane.namespace(name);
        let own = format!(
            "validationActions: [{action}]\n  matchResources: {{namespaceSelector: {{matchLabels: \
             {{kubernetes.io/metadata.name: {}}}}}}}",
            team.name()
        );
        let text = POLICY
            .replace(r#"validationActions: ["Warn", "Audit"]"#, &own)
            .replace("dayshift-texts", &format!("texts-{}", team.name()))
            .replace("<= 4096", &format!("<= {most}"));
        assert_contains!(text, own);
        plane.apply(&text);
        Self { team }
    }

    fn denying(plane: &'a ControlPlane, name: &str) -> Self {
        let policy = Self::new(plane, name, "Deny", 4096);
        let bad = deployment("web").annotation("dayshift/strat", "09:00");
        eventually("the policy is in force", || {
            policy.refusal(bad.clone()).map(drop)
        });
        policy
    }

    /// The API server's denial; `None` if it accepts.
    fn refusal(&self, web: DeploymentBuilder) -> Option<String> {
        block_on(refusal(self.api(), web))
    }

    fn api(&self) -> Api<Deployment> {
        Api::namespaced(self.team.plane().client().clone(), self.team.name())
    }

    /// The denials of these values, in order.
    fn refused(&self, texts: &[(&'static str, String)]) -> Vec<Option<String>> {
        let asked = texts.iter().map(|(key, text)| {
            let web = deployment("web").annotation(&format!("dayshift/{key}"), text);
            refusal(self.api(), web)
        });
        // Only a few at once, because other scenarios on the same server must be on time.
        block_on(stream::iter(asked).buffered(2).collect())
    }
}

async fn refusal(api: Api<Deployment>, web: DeploymentBuilder) -> Option<String> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    match api.create(&params, &web.into()).await {
        Ok(_) => None,
        Err(kube::Error::Api(status)) => {
            let text = status.message;
            assert_contains!(text, "ValidatingAdmissionPolicy");
            Some(text)
        }
        Err(error) => panic!("{error}"),
    }
}

fn policy_accepts_every_value_that_the_parser_accepts(plane: &ControlPlane) {
    for key in Key::ALL {
        assert!(POLICY.contains(&format!("'dayshift/{key}'")), "{key}");
    }
    let policy = Policy::denying(plane, "texts");
    let changes = if is_full() { 240 } else { 5 };
    let mut numbers = Numbers(20_261_122);
    let mut texts: Vec<(&'static str, String)> = Vec::new();
    for (key, seeds) in SEEDS {
        for seed in seeds {
            assert!(is_read(key, seed), "{key}: {seed}");
            texts.push((key, (*seed).to_owned()));
            texts.extend((0..changes).map(|_| (key, changed(seed, &mut numbers))));
        }
    }
    let refused = policy.refused(&texts);
    let (mut good, mut bad, mut caught) = (0, 0, 0);
    let mut missed = Vec::new();
    for ((key, text), refusal) in texts.iter().zip(refused) {
        match (is_read(key, text), refusal) {
            (true, Some(why)) => {
                panic!("{key}: {text:?} is valid, but the policy denies it: {why}")
            }
            (true, None) => good += 1,
            (false, Some(why)) => {
                assert_contains!(why, format!("dayshift/{key}"));
                bad += 1;
                caught += 1;
            }
            (false, None) => {
                bad += 1;
                missed.push(format!("{key}: {text:?}"));
            }
        }
    }
    println!("policy: {good} good texts, none refused; {caught} of {bad} bad ones refused");
    assert!(
        good > texts.len() / 4 && bad > texts.len() / 3,
        "{good} {bad}"
    );
    // Only cron's own limits, a calendar or a clock can detect the others.
    assert!(caught * 10 > bad * 9, "{caught} of {bad}: {missed:#?}");
}

fn policy_accepts_every_time_zone(plane: &ControlPlane) {
    let policy = Policy::denying(plane, "zones");
    assert!(chrono_tz::TZ_VARIANTS.len() > 500);
    let zones = chrono_tz::TZ_VARIANTS
        .iter()
        .step_by(if is_full() { 1 } else { 6 });
    let mut texts: Vec<_> = zones.map(|it| ("timezone", it.name().to_owned())).collect();
    texts.push(("timezone", " Europe/Berlin ".to_owned()));
    for ((_, zone), refusal) in texts.iter().zip(policy.refused(&texts)) {
        assert_eq!(refusal, None, "{zone}");
    }
    for zone in ["Asia/Tokio", "+09:00", "Mars/Olympus", "asia/tokyo", ""] {
        let web = deployment("web").annotation("dayshift/timezone", zone);
        assert!(policy.refusal(web).is_some(), "{zone}");
    }
}

fn kubectl_apply_shows_the_message_of_the_policy(plane: &ControlPlane) {
    let policy = Policy::new(plane, "reported", "Warn, Audit", 4096);
    let team = &policy.team;
    team.create(deployment("web").start("Mon-Fri 09:00").stop("19:00"));
    let annotate = |text: &str| team.kubectl(&["annotate", "--overwrite", "deployment/web", text]);
    let reported = |text: &str, expected: &str| {
        let output = eventually("the policy is in force", || {
            let output = annotate(text);
            assert!(output.ok, "a warning denies nothing: {}", output.stderr);
            annotate(&format!("{}-", text.split('=').next().unwrap())).success();
            (!output.stderr.is_empty()).then_some(output.stderr)
        });
        assert!(
            output.starts_with("Warning: ") && output.contains(expected),
            "{output}"
        );
    };
    reported(
        "dayshift/strat=09:00",
        "no such annotation of dayshift: dayshift/strat",
    );
    reported(
        "dayshift/hours=Mon-Fri 9-17",
        "dayshift/hours is not a list of windows",
    );
    reported(
        "dayshift/hours=09:00-17:00",
        "cannot be combined with dayshift/start",
    );
    reported(
        "dayshift/scale=08:00 = 5",
        "dayshift/scale defines all counts",
    );
    reported(
        "dayshift/timezone=Asia/Tokio",
        "timezone_is_in_the_IANA_database_such_as_Europe_Berlin' resulted in error",
    );
    reported(
        "dayshift/timezone=Asia/Tokio",
        "unknown time zone Asia/Tokio",
    );
    reported(
        "dayshift/replicas=three",
        "are numbers; write for example `3`",
    );
    reported(
        "dayshift/exclude=yes",
        "dayshift/exclude, dayshift/team-defaults, dayshift/allow-volume-deletion and dayshift/stop-jobs are",
    );

    // Annotations of dayshift, of excluded workloads and unchanged ones cause no warning.
    for text in [
        "dayshift/error=x",
        "dayshift/replicas=3",
        "other/strat=x",
        "dayshift/exclude=true",
    ] {
        let output = annotate(text);
        assert_eq!((output.ok, &*output.stderr), (true, ""), "{text}");
    }
    let output = annotate("dayshift/strat=09:00");
    assert_eq!(output.stderr, "", "an excluded workload is not validated");
    team.kubectl(&["annotate", "deployment/web", "dayshift/exclude-"])
        .success();
    let output = team.kubectl(&["scale", "deployment/web", "--replicas=5"]);
    assert_eq!(output.stderr, "", "a change of the count is not validated");

    let namespace = ["annotate", "namespace", team.name(), "dayshift/stop=7pm"];
    let output = plane.kubectl(&namespace);
    assert_contains!(output.stderr, "dayshift/stop is not a list of times");
}

/// The budget limits the cost of one object for the API server. Costs grow with the length of a value: if a
/// value of ten times the maximum length is within the budget, one of the maximum length costs less than a
/// tenth.
fn policy_costs_less_than_a_tenth_of_the_budget(plane: &ControlPlane) {
    let policy = Policy::new(plane, "costs", "Deny", 65_536);
    eventually("the policy is in force", || {
        let bad = deployment("web").annotation("dayshift/strat", "09:00");
        policy.refusal(bad).map(drop)
    });
    for (key, item) in [
        ("start", "first weekday,last Saturday 09:00,10:00"),
        ("hours", "weekdays,Saturday 09:00-10:00,11:00-24:00"),
        ("scale", "*/15 8-18/2 1,15 jan-dec ? = 5"),
        ("except", "2026-12-28..2027-01-03"),
        ("treat-as", "2026-12-28..2027-01-03 = Wednesday"),
        ("extra", "2026-12-28..2027-01-03 Wednesday 09:00-24:00"),
        ("after", "statefulsets.apps/database-of-the-shop"),
    ] {
        let text = vec![item; 40_960 / (item.len() + 1)].join(";");
        assert!(text.len() > 40_000);
        let web = deployment("web").annotation(&format!("dayshift/{key}"), &text);
        assert_eq!(policy.refusal(web), None, "{key}");
    }
}
