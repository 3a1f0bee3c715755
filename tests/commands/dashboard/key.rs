//! Only a browser with the key of the printed URL has access; other users of the machine have none.

use super::{
    actions::{cluster, post, posted, token},
    browser::{Answer, Page, Served},
};
use crate::program::wait_until;

const PATHS: [&str; 5] = [
    "/",
    "/timeline",
    "/object/dev/deploy/web",
    "/object/dev/deploy/gone",
    "/result/1",
];

fn is_refused(answer: &Answer) -> bool {
    let page = Page::read(&answer.body);
    let text = page.text();
    let says_what_to_do = text.contains("Open the address that was printed in your terminal");
    answer.status == 403 && says_what_to_do && !answer.body.contains("web")
}

#[test]
fn rejects_requests_without_the_key() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let other = Served::of(&cluster, &[]);
    served.page("/");
    let (host, token) = (served.address, token(&served));
    let (key, cookie) = (served.key.clone().unwrap(), served.cookie.clone().unwrap());
    let wrong = format!("{:0>32}", &key[..31]);
    let of_other = other.cookie.clone().unwrap();
    let (_, value_of_other) = of_other.split_once('=').unwrap();
    let renamed = format!("dayshift-{}={value_of_other}", host.port());
    let other_key = other.key.unwrap();
    for path in PATHS {
        for (query, cookie) in [
            ("", ""),
            ("?key=", ""),
            (&*format!("?key={wrong}"), ""),
            (&*format!("?key={other_key}"), ""),
            (&*format!("?token={token}"), ""),
            ("", &*of_other),
            ("", &*renamed),
            ("", &cookie[..cookie.len() - 33]),
            ("", &*cookie.replacen("dayshift-", "", 1)),
        ] {
            let head = format!("GET {path}{query} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}");
            let answer = served.send_bare(&head, b"");
            assert!(
                is_refused(&answer),
                "{path}{query} {cookie}: {}",
                answer.body
            );
        }
    }
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/web"),
        ("plan", "1"),
    ];
    for path in ["/confirm", "/act"] {
        for path in [path.to_owned(), format!("{path}?key={key}")] {
            let (head, body) = posted(&served, &path, &fields);
            let answer = served.send_bare(&head, body.as_bytes());
            assert!(is_refused(&answer), "{path}: {}", answer.body);
        }
    }
    let patches = cluster.api.requests().into_iter();
    assert_eq!(patches.filter(|it| it.verb == "patch").count(), 0);
}

#[test]
fn the_printed_url_redirects_to_a_url_without_the_key() {
    let served = Served::sandbox(&["examples/office-hours.yaml", "--for", "1h"]);
    let (host, key) = (served.address, served.key.as_ref().unwrap());
    assert_eq!(key.len(), 32, "{key}");
    for (path, expected) in [
        (format!("/?key={key}"), "/"),
        (
            format!("/timeline?q=a%26b&key={key}&theme=dark"),
            "/timeline?q=a%26b&theme=dark",
        ),
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}");
        let led = served.send_bare(&head, b"");
        assert_eq!(led.status, 303, "{}", led.body);
        assert_eq!(led.header("location"), Some(expected));
        assert_eq!(led.header("referrer-policy"), Some("no-referrer"));
        let cookie = led.header("set-cookie").unwrap();
        assert_starts_with!(cookie, format!("dayshift-{}=", host.port()));
        assert_ends_with!(cookie, "; Path=/; HttpOnly; SameSite=Strict");
        let cookie = cookie.split(';').next().unwrap();
        let head = format!("GET {expected} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}");
        assert_eq!(served.send_bare(&head, b"").status, 200, "{expected}");
    }
    // The path after the key is used only if it is a page of the dashboard.
    for path in ["//evil.example/", "/nothing", "/%0d%0aset-cookie:%20a=b"] {
        let head = format!("GET {path}?key={key} HTTP/1.1\r\nhost: {host}");
        assert_eq!(served.send_bare(&head, b"").status, 404, "{path}");
    }
    for path in ["/?refresh=off", "/timeline"] {
        let page = served.get(path);
        assert_eq!(page.status, 200);
        assert!(!page.body.contains(&**key), "no page repeats the key");
    }
}

#[test]
fn each_browser_has_its_own_previews() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let token = token(&served);
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/web"),
    ];
    let plan_of = |answer: &Answer| {
        assert_eq!(answer.status, 200, "{}", answer.body);
        let page = Page::read(&answer.body);
        let plan = page
            .all("input")
            .find(|it| it.attribute("name") == Some("plan"));
        plan.unwrap().attribute("value").unwrap().to_owned()
    };
    let mine = plan_of(&post(&served, "/confirm", &fields));
    let other = served.new_browser();
    let by_other = |path: &str, fields: &[(&str, &str)]| {
        let (head, body) = posted(&served, path, fields);
        served.send_bare(&format!("{head}\r\ncookie: {other}"), body.as_bytes())
    };
    let confirm = |plan: &str| [("token", token.clone()), ("plan", plan.to_owned())];
    for _ in 0..17 {
        plan_of(&by_other("/confirm", &fields));
    }
    let theirs = confirm(&mine);
    let theirs: Vec<_> = theirs
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    assert_eq!(
        by_other("/act", &theirs).status,
        409,
        "the plan belongs to another browser"
    );
    assert_eq!(cluster.annotation("web", "pause"), None);
    let done = post(&served, "/act", &theirs);
    assert_eq!(done.status, 303, "{}", done.body);
    // The dashboard keeps the last 16 actions of a browser.
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("object", "dev/deploy/api"),
    ];
    let first = plan_of(&by_other("/confirm", &fields));
    for _ in 0..16 {
        plan_of(&by_other("/confirm", &fields));
    }
    let first = [("token", &*token), ("plan", &*first)];
    assert_eq!(by_other("/act", &first).status, 409);
}

/// Other users of the machine can see the arguments of programs, so the opened URL works once.
#[test]
fn open_starts_a_browser_with_a_url_that_works_once() {
    use std::os::unix::fs::PermissionsExt as _;

    let cluster = cluster();
    let folder = tempfile::TempDir::new().unwrap();
    let opened = folder.path().join("opened");
    for name in ["xdg-open", "open"] {
        let program = folder.path().join(name);
        let text = format!(
            "#!/bin/sh\nprintf %s \"$1\" > {0}.new\nmv {0}.new {0}\n",
            opened.display()
        );
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.path().display());
    let served = Served::with_path(&cluster, &["--open"], &path);
    let url = || std::fs::read_to_string(&opened).unwrap_or_default();
    wait_until("opened", || !url().is_empty());
    let url = url();
    let host = served.address;
    let key = url.strip_prefix(&format!("http://{host}/?key=")).unwrap();
    assert_ne!(Some(key), served.key.as_deref());
    let open = || served.send_bare(&format!("GET /?key={key} HTTP/1.1\r\nhost: {host}"), b"");
    assert_eq!(open().status, 303);
    assert_eq!(open().status, 403, "it works once");
    // The printed URL still works.
    served.new_browser();
}
