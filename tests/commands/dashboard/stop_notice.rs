//! A stop notice on the overview.

use chrono::{Days, Utc};

use super::actions::{confirmed, post};
use super::browser::Served;
use crate::fake_server::{Cluster, Controller};
use crate::status::state;

/// A stop tomorrow is shown one day before, on any weekday.
#[test]
fn the_overview_offers_to_keep_a_workload_running() {
    let cluster = Cluster::new();
    let tomorrow = Utc::now().date_naive() + Days::new(1);
    let stop = format!("{tomorrow} 00:00");
    for (name, notice) in [("web", "24h"), ("silent", "0")] {
        cluster.deployment(name, 3, &[("stop", &stop), ("notice", notice)]);
        let next = tomorrow.format("%Y-%m-%dT00.00.00Z").to_string();
        let last = Utc::now()
            .date_naive()
            .format("%Y-%m-%dT00.00.00Z")
            .to_string();
        state(
            &cluster,
            name,
            &[("state", "running"), ("last", &last), ("next", &next)],
        );
    }
    let _controller = Controller::on(&cluster);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let button = page
        .all("button")
        .find(|it| it.text.starts_with("Keep running"));
    assert_eq!(button.unwrap().text, "Keep running for 2h");
    let value = |name: &str| {
        let mut inputs = page.all("input");
        let found = inputs.find(|it| it.attribute("name") == Some(name));
        found.unwrap().attribute("value").unwrap().to_owned()
    };
    let objects = page
        .all("input")
        .filter(|it| it.attribute("name") == Some("object"));
    let objects: Vec<_> = objects.map(|it| it.attribute("value").unwrap()).collect();
    assert_eq!(objects, ["dev/deploy/web"]);
    let (token, action, length) = (value("token"), value("do"), value("for"));
    let fields = [
        ("token", &*token),
        ("do", &*action),
        ("for", &*length),
        ("object", "dev/deploy/web"),
    ];
    let asked = post(&served, "/confirm", &fields);
    let (_, result) = confirmed(&served, &asked);
    assert!(
        cluster.annotation("web", "wake-until").is_some(),
        "{result}"
    );
    assert_eq!(cluster.annotation("silent", "wake-until"), None);
}
