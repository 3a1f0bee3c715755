//! Users behind a proxy: each one sees and does only what the API server allows them.

use std::{sync::atomic::Ordering, time::Duration};

use kube_in_memory::Fault;

use super::users::{PROXY, PageResponse, Proxied, input, request};
use crate::sandbox::{DeploymentBuilder, Sandbox, deployment, stateful_set};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// A hidden namespace, its contents, and a namespace that does not exist.
const OTHERS: &str = "hidden-team";
const NOWHERE: &str = "absent-team";

/// A cluster in the evening with workloads in `team-a` and, if `has_others`, in other namespaces.
fn evening(has_others: bool) -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 17:50 UTC");
    scenario.api.namespace("team-a");
    // All of them are in the time zone of the pages; the others are in another one.
    let ours = |it: DeploymentBuilder, replicas| {
        let it = it.namespace("team-a").replicas(replicas).hours(OFFICE);
        it.annotation("dayshift/timezone", "Europe/Berlin")
    };
    scenario.apply(ours(deployment("web"), 3));
    scenario.apply(ours(stateful_set("db"), 2));
    if has_others {
        scenario.api.namespace(OTHERS);
        let secret = |name| deployment(name).namespace(OTHERS).replicas(7);
        scenario.apply(
            secret("hidden-web")
                .hours(OFFICE)
                .annotation("dayshift/timezone", "Asia/Tokyo")
                .annotation("dayshift/reason", "hidden reason"),
        );
        scenario.apply(secret("hidden-bad").hours("Hiddenday 09:00-19:00"));
        scenario.apply(
            stateful_set("hidden-db")
                .namespace(OTHERS)
                .annotation("dayshift/wake-until", "2026-11-20 23:00")
                .hours(OFFICE),
        );
    }
    scenario.sleep_until("19:00");
    scenario
}

/// The pages that a user sees at each address, without parts that change at each start.
fn walk(scenario: &Sandbox, others: &str) -> Vec<(String, u16, String)> {
    let pages = Proxied::new(scenario);
    let token = pages.token("ann");
    // UIDs, and values derived from them, are new each time.
    let of_uid = ["Deployment", "StatefulSet"].map(|kind| {
        let name = if kind == "Deployment" { "web" } else { "db" };
        let object = scenario.api.get(kind, "team-a", name).unwrap();
        let fingerprint = &object["metadata"]["labels"]["dayshift/fingerprint"];
        fingerprint.as_str().unwrap().to_owned()
    });
    let seen = |path: &str, answer: PageResponse| {
        let mut body = answer.body.replace(&token, "TOKEN");
        for fingerprint in &of_uid {
            body = body.replace(fingerprint, "FINGERPRINT");
        }
        (
            path.to_owned(),
            answer.status,
            body.replace(others, "OTHERS"),
        )
    };
    let mut all = Vec::new();
    for path in [
        "/",
        "/timeline",
        "/timeline?state=error",
        "/timeline?q=hidden",
        "/?tz=Asia/Tokyo",
        "/ns/team-a",
        "/ns/team-a/what-if?hours=Mon-Fri+10:00-16:00",
        "/object/team-a/deploy/web/schedule",
        "/object/team-a/deploy/web",
        "/object/team-a/sts/db",
        "/result/1",
        "/nowhere",
        &format!("/timeline?namespace={others}"),
        &format!("/ns/{others}"),
        &format!("/ns/{others}?refresh=off"),
        &format!("/object/{others}/deploy/hidden-web"),
        &format!("/object/{others}/deploy/hidden-bad"),
        &format!("/object/{others}/sts/hidden-db"),
        &format!("/ns/{others}/what-if?hours=00:00-24:00"),
        &format!("/object/{others}/deploy/hidden-web/schedule"),
    ] {
        all.push(seen(path, pages.get("ann", path)));
    }
    let object = format!("{others}/deploy/hidden-web");
    for chosen in [("object", &*object), ("namespace", others)] {
        for action in ["wake", "pause", "resume", "nonsense"] {
            let fields = [("token", &*token), ("do", action), ("for", "2h"), chosen];
            let answer = pages.post("ann", "/confirm", &fields);
            all.push(seen(&format!("/confirm {action} {chosen:?}"), answer));
        }
        // A form can contain any name, also that of a schedule that a hidden workload follows.
        for hours in ["00:00-24:00", "Hiddenday 09:00-19:00"] {
            let fields = [
                ("token", &*token),
                ("do", "schedule"),
                ("hours", hours),
                chosen,
            ];
            let answer = pages.post("ann", "/confirm", &fields);
            let body = answer.body.replace(hours, "HOURS");
            let answer = PageResponse { body, ..answer };
            all.push(seen(&format!("/confirm schedule {chosen:?}"), answer));
        }
    }
    let untouched = scenario.api.requests().into_iter();
    let touched: Vec<_> = untouched
        .filter(|it| it.who == "ann" && it.namespace != "team-a" && !it.namespace.is_empty())
        .collect();
    assert!(touched.is_empty(), "{touched:?}");
    all
}

/// Every page is byte for byte the same with and without other namespaces: no count, time zone,
/// message or address reveals them.
#[test]
fn pages_show_nothing_that_the_user_may_not_list() {
    let with = walk(&evening(true), OTHERS);
    let without = walk(&evening(false), NOWHERE);
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(&without) {
        assert_eq!((with.1, &with.2), (without.1, &without.2), "{}", with.0);
        assert!(!with.2.contains("Hiddenday"), "{}: {}", with.0, with.2);
    }
    let shown = |path: &str| with.iter().find(|it| it.0 == path).unwrap();
    assert!(
        shown("/").2.contains("2</span> stopped"),
        "{:?}",
        shown("/")
    );
    assert_eq!(shown("/ns/team-a").1, 200);
    assert_eq!(shown(&format!("/ns/{OTHERS}")).1, 404);
    assert_eq!(shown(&format!("/object/{OTHERS}/sts/hidden-db")).1, 404);
}

#[test]
fn user_who_may_list_everything_sees_everything_and_the_savings() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let overview = pages.get_as_admin("/").body;
    for part in [
        OTHERS,
        "Hiddenday",
        "saved since the controller started",
        "logged in as root",
    ] {
        assert!(overview.contains(part), "{part}: {overview}");
    }
    let ann = pages.get("ann", "/").body;
    assert!(!ann.contains("saved since"), "{ann}");
    assert!(ann.contains("you see only some of them"), "{ann}");
    let nora = pages.get("nora", "/");
    assert_eq!(nora.status, 200);
    assert!(
        nora.body.contains("No workload has a schedule here."),
        "{}",
        nora.body
    );
}

#[test]
fn shows_nothing_without_exactly_one_user_from_the_proxy() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let user = ("x-forwarded-user", "root");
    let groups = ("x-forwarded-groups", "admins");
    for (peer, headers) in [
        ("10.2.0.1:40000", &[user, groups][..]),
        ("127.0.0.1:40000", &[user, groups]),
        ("[::1]:40000", &[user, groups]),
        (
            PROXY,
            &[
                user,
                groups,
                ("x-dayshift-proxy-secret", "fedcba9876543210"),
            ],
        ),
        (PROXY, &[]),
        (PROXY, &[groups]),
        (PROXY, &[("x-forwarded-user", ""), groups]),
        (PROXY, &[user, ("x-forwarded-user", "ann"), groups]),
        (PROXY, &[("x-forwarded-user", "system:admin")]),
        (
            PROXY,
            &[("x-forwarded-user", "system:serviceaccount:ops:dayshift")],
        ),
        (PROXY, &[user, ("x-forwarded-groups", "system:masters")]),
        (
            PROXY,
            &[user, ("x-forwarded-groups", "admins, system:masters")],
        ),
        (PROXY, &[user, groups, ("x-forwarded-groups", "more")]),
        // Only the API server uses these names.
        (
            PROXY,
            &[
                ("impersonate-user", "root"),
                ("impersonate-group", "admins"),
            ],
        ),
    ] {
        for path in [
            "/",
            "/timeline",
            "/ns/team-a",
            "/object/team-a/deploy/web",
            "/result/1",
        ] {
            let answer = pages.send(peer, request("GET", path, headers), "");
            assert_eq!(answer.status, 403, "{peer} {headers:?} {path}");
            assert!(!answer.body.contains("team-a"), "{}", answer.body);
        }
        let answer = pages.send(peer, request("POST", "/act", headers), "plan=1");
        assert_eq!(answer.status, 403, "{peer} {headers:?}");
    }
    assert_eq!(
        pages.guard.asked.load(Ordering::Relaxed),
        0,
        "rejected requests cause no permission check"
    );
    let answer = pages.send("10.2.0.1:1", request("GET", "/style.css", &[]), "");
    assert_eq!(answer.status, 200);
    // An IPv4-mapped address of the proxy, as an IPv6 socket shows it, is the same proxy.
    let mapped = "[::ffff:10.1.2.3]:40000";
    let answer = pages.send(mapped, request("GET", "/", &[user, groups]), "");
    assert_eq!(answer.status, 200);
}

/// With the role `edit` a user may change all workloads of a namespace but not the Namespace, so
/// the action changes the workloads.
#[test]
fn wakes_a_namespace_as_the_user() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let token = pages.token("ann");
    let fields = [
        ("token", &*token),
        ("do", "wake"),
        ("for", "2h"),
        ("reason", "a demo"),
        ("namespace", "team-a"),
    ];
    let asked = pages.post("ann", "/confirm", &fields);
    assert!(asked.body.contains("Wake 2 workloads"), "{}", asked.body);
    let result = pages.confirmed("ann", &asked);
    assert!(
        result.contains("2 of 2") || result.contains("done"),
        "{result}"
    );
    assert!(!result.contains("forbidden"), "{result}");
    assert_eq!(scenario.api.replicas("team-a", "web"), Some(3));
    let requests = scenario.api.requests().into_iter();
    let patches: Vec<_> = requests
        .filter(|it| it.verb == "patch" && !it.who.starts_with("scaler"))
        .map(|it| (it.who, it.namespace, it.name))
        .collect();
    assert_eq!(patches.len(), 2, "{patches:?}");
    for (who, namespace, _) in &patches {
        assert_eq!((&**who, &**namespace), ("ann", "team-a"), "{patches:?}");
    }
}

#[test]
fn at_most_eight_requests_of_a_user_wait() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let codes = pages.get_at_once("ann", "/", 100);
    let served = codes.iter().filter(|code| **code == 200).count();
    let refused = codes.iter().filter(|code| **code == 429).count();
    assert_eq!((served, refused), (8, 92), "{codes:?}");
    assert_eq!(pages.get("ann", "/").status, 200);
}

/// Four actions are carried out at the same time.
#[test]
fn actions_of_one_user_do_not_delay_those_of_another() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    scenario.api.on_request(|line| {
        let is_slow = line.verb == "patch" && line.who == "ann";
        is_slow.then_some(Fault::Delay(Duration::from_secs(9)))
    });
    let previews: Vec<_> = (1..=6)
        .map(|hours| preview(&pages, "ann", &format!("{hours}h")))
        .collect();
    let acts = previews.iter().map(|asked| act(&pages, "ann", asked));
    let codes: Vec<_> = acts.collect();
    assert_eq!(codes, [303, 303, 409, 409, 409, 409]);
    let result = pages.confirmed("bob", &preview(&pages, "bob", "2h"));
    assert!(
        result.contains("1 of 1") || result.contains("done"),
        "{result}"
    );
    pages.pass(Duration::from_secs(60));
    assert_eq!(act(&pages, "ann", &preview(&pages, "ann", "3h")), 303);
}

/// The pages show a state that can be a second old, but no action begins before the one ahead of it is shown.
#[test]
fn preview_right_after_an_action_shows_its_result() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let asked = preview(&pages, "ann", "2h");
    let (token, plan) = (input(&asked.body, "token"), input(&asked.body, "plan"));
    let fields = [("token", &*token), ("plan", &*plan)];
    let result = pages.post("ann", "/act", &fields).location.unwrap();
    while pages.get("ann", &result).body.contains("under way") {
        pages.pass(Duration::from_millis(10));
    }
    let asked = preview(&pages, "ann", "4h");
    assert!(asked.body.contains("was awake until"), "{}", asked.body);
    let result = pages.confirmed("ann", &asked);
    assert!(!result.contains("changed since"), "{result}");
}

/// The page that previews a wake of `team-a/deploy/web`.
fn preview(pages: &Proxied<'_>, user: &str, hours: &str) -> PageResponse {
    let token = pages.token(user);
    pages.post(user, "/confirm", &wake(&token, hours))
}

fn wake<'t>(token: &'t str, hours: &'t str) -> [(&'t str, &'t str); 4] {
    let object = "team-a/deploy/web";
    [
        ("token", token),
        ("do", "wake"),
        ("for", hours),
        ("object", object),
    ]
}

/// Confirms a preview, and returns the status of the response.
fn act(pages: &Proxied<'_>, user: &str, asked: &PageResponse) -> u16 {
    let (token, plan) = (input(&asked.body, "token"), input(&asked.body, "plan"));
    let fields = [("token", &*token), ("plan", &*plan)];
    pages.post(user, "/act", &fields).status
}

/// Two actions of each of two users are carried out, so previews wait.
#[test]
fn at_most_two_previews_of_a_user_wait() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    scenario.api.on_request(|line| {
        let is_slow = line.verb == "patch" && ["ann", "bob"].contains(&&*line.who);
        is_slow.then_some(Fault::Delay(Duration::from_secs(9)))
    });
    let users = ["ann", "ann", "bob", "bob"];
    let previews = users.map(|user| (user, preview(&pages, user, "2h")));
    for (user, asked) in &previews {
        assert_eq!(act(&pages, user, asked), 303);
    }
    let token = pages.token("ann");
    let codes = [(); 3].map(|()| {
        let response = pages.abandon("ann", "/confirm", &wake(&token, "1h"));
        response.map(|response| response.status)
    });
    assert_eq!(codes, [None, None, Some(429)]);
    pages.pass(Duration::from_secs(60));
    assert_eq!(preview(&pages, "ann", "1h").status, 200);
}

/// A preview reads the workload, which takes minutes here.
#[test]
fn previews_that_one_user_abandons_do_not_delay_another() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    scenario.api.on_request(|line| {
        let is_slow = line.verb != "watch" && line.who == "ann";
        is_slow.then_some(Fault::Delay(Duration::from_secs(600)))
    });
    let edit = |user: &str| {
        let fields = [
            ("token", pages.token(user)),
            ("do", "schedule".to_owned()),
            ("hours", "Mon-Fri 08:00-19:00".to_owned()),
            ("object", "team-a/deploy/web".to_owned()),
        ];
        let fields = fields.each_ref().map(|(name, value)| (*name, &**value));
        pages.abandon(user, "/confirm", &fields)
    };
    for _ in 0..10 {
        let response = edit("ann");
        assert!(response.is_none(), "{response:?}");
    }
    assert_eq!(edit("bob").unwrap().status, 200);
}

#[test]
fn viewer_is_offered_no_form_and_sees_why() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    for path in ["/timeline", "/ns/team-a", "/object/team-a/deploy/web"] {
        let page = pages.get("vic", path);
        assert_eq!(page.status, 200, "{path}");
        let why = "Your permissions do not allow you to change these workloads.";
        assert!(page.body.contains(why), "{path}: {}", page.body);
        assert!(!page.body.contains("name=\"token\""), "{path}");
    }
    let ann = pages.token("ann");
    let fields = [
        ("token", &*ann),
        ("do", "wake"),
        ("for", "2h"),
        ("object", "team-a/deploy/web"),
    ];
    assert_eq!(pages.post("vic", "/confirm", &fields).status, 403);
    scenario.pass(Duration::from_secs(5));
    assert_eq!(scenario.api.replicas("team-a", "web"), Some(0));
}

#[test]
fn accepts_a_form_only_from_its_own_user_and_page() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let (ann, bob) = (pages.token("ann"), pages.token("bob"));
    assert_ne!(ann, bob);
    assert_eq!(
        ann,
        pages.token("ann"),
        "the token of a user stays the same"
    );
    let fields = |token| {
        [
            ("token", token),
            ("do", "wake"),
            ("for", "2h"),
            ("object", "team-a/deploy/web"),
        ]
    };
    // A forged form: another user's token, sent by this user's browser.
    assert_eq!(pages.post("ann", "/confirm", &fields(&bob)).status, 403);
    for origin in [
        "https://evil.example.com",
        "https://dayshift.example.com.evil.example",
        "http://localhost",
        "null",
    ] {
        let answer = pages.post_from(origin, "ann", "/confirm", &fields(&ann));
        assert_eq!(answer.status, 403, "{origin}");
    }
    let asked = pages.post("ann", "/confirm", &fields(&ann));
    assert_eq!(asked.status, 200, "{}", asked.body);
    let plan = input(&asked.body, "plan");
    let of_bob = pages.post("bob", "/act", &[("token", &*bob), ("plan", &*plan)]);
    assert_eq!(of_bob.status, 409, "{}", of_bob.body);
    assert_eq!(pages.get("bob", &format!("/result/{plan}")).status, 404);
    assert_eq!(pages.get("ann", &format!("/result/{plan}")).status, 200);
    assert_eq!(scenario.api.replicas("team-a", "web"), Some(0));
}

#[test]
fn caches_permissions_for_a_minute() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    let asked = || pages.guard.asked.load(Ordering::Relaxed);
    assert!(pages.get("ann", "/").body.contains("team-a"));
    // For each of two kinds, list: once for all namespaces and once in each of two namespaces. Patch, for the
    // forms: once for all namespaces and once in team-a.
    assert_eq!(asked(), 10);
    for path in ["/", "/timeline", "/ns/team-a"] {
        assert_eq!(pages.get("ann", path).status, 200);
    }
    assert_eq!(asked(), 10);
    // For a user who may list and patch in all namespaces, two checks of each are sufficient.
    pages.get_as_admin("/");
    assert_eq!(asked(), 14);
    pages.guard.is_closed.store(true, Ordering::Relaxed);
    scenario.pass(Duration::from_secs(61));
    let closed = pages.get("ann", "/ns/team-a");
    assert_eq!((closed.status, asked()), (404, 20));
    assert!(
        pages
            .get("ann", "/")
            .body
            .contains("No workload has a schedule here.")
    );
}

#[test]
fn shows_nothing_if_permissions_cannot_be_checked() {
    let scenario = evening(true);
    let pages = Proxied::new(&scenario);
    pages.guard.is_down.store(true, Ordering::Relaxed);
    for path in ["/", "/timeline", "/ns/team-a", "/object/team-a/deploy/web"] {
        let answer = pages.get("ann", path);
        assert_eq!(answer.status, 503, "{path}");
        assert!(!answer.body.contains("team-a"), "{}", answer.body);
        assert!(
            answer.body.contains("manifests/dashboard-login.yaml"),
            "{}",
            answer.body
        );
    }
    pages.guard.is_down.store(false, Ordering::Relaxed);
    pages.pass(Duration::from_secs(6)); // An error is reused for 5 s.
    assert!(pages.get("ann", "/").body.contains("team-a"));
}

/// A pending plan stores each of its objects, and the controller has little memory.
#[test]
fn limits_an_action_to_two_thousand_workloads_and_keeps_few_plans() {
    let scenario = evening(false);
    for at in 0..1_998 {
        let web = deployment(&format!("web-{at}")).namespace("team-a");
        scenario.api.apply(web.hours(OFFICE).into()).unwrap();
    }
    scenario.pass(Duration::from_secs(10));
    let pages = Proxied::new(&scenario);
    let token = pages.token("ann");
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("for", "2h"),
        ("namespace", "team-a"),
    ];
    let plan = || {
        let asked = pages.post("ann", "/confirm", &fields);
        assert!(
            asked.body.contains("Pause 2000 workloads"),
            "{}",
            asked.body
        );
        assert!(asked.body.len() < 1_000_000, "{}", asked.body.len());
        input(&asked.body, "plan")
    };
    let plans = [plan(), plan()];
    let kept = plans.map(|id| pages.get("ann", &format!("/result/{id}")).status);
    assert_eq!(kept, [404, 200]);

    let one_more = deployment("one-more").namespace("team-a").hours(OFFICE);
    scenario.apply(one_more);
    scenario.pass(Duration::from_secs(2));
    let asked = pages.post("ann", "/confirm", &fields);
    assert_eq!(asked.status, 400, "{}", asked.body);
    assert!(
        asked.body.contains("at most 2000 workloads"),
        "{}",
        asked.body
    );
}
