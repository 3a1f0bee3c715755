//! What a start waits for in vain, among the files.

use super::program::found;

/// A Deployment in `dev` with running hours, and what its start waits for.
fn object(name: &str, hours: &str, after: &str) -> String {
    let after = match after {
        "" => String::new(),
        after => format!("    dayshift/after: '{after}'\n"),
    };
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  namespace: dev\n  annotations:\n    dayshift/hours: '{hours}'\n{after}"
    )
}

/// A Service in `dev`.
fn service(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  namespace: dev\n")
}

#[test]
fn what_a_start_waits_for_in_vain_is_found_where_it_is_named() {
    let office = "Mon-Fri 09:00-19:00";
    let web = |after: &str| object("web", office, after);
    let db = |hours: &str, after: &str| object("db", hours, after);
    let vain = |places: &[&str]| -> Vec<String> {
        let each = places.iter();
        each.map(|it| format!("waits-in-vain {it}")).collect()
    };
    for (text, expected) in [
        (web("deploy/db") + &db(office, ""), vec![]),
        // Nothing else of the namespace is here, so the database may be elsewhere.
        (web("deploy/db"), vec![]),
        (web("deploy/dbb") + &db(office, ""), vain(&["9:22"])),
        (
            web("deploy/db; sts/db, 5m") + &db(office, ""),
            vain(&["9:33"]),
        ),
        (web("deploy/web, 5m") + &db(office, ""), vain(&["9:22"])),
        (
            web("deploy/db") + &db(office, "deploy/web"),
            vain(&["9:22", "18:22"]),
        ),
        (
            web("deploy/db") + &db(office, "deploy/api") + &object("api", office, "deploy/web"),
            vain(&["9:22", "18:22", "27:22"]),
        ),
        (web("deploy/db") + &db("Mon-Fri 09:10-19:00", ""), vec![]),
        (
            web("deploy/db, 9m") + &db("Mon-Fri 09:10-19:00", ""),
            vain(&["9:22"]),
        ),
        // A Service is another object than its workload, and may be elsewhere while none is here.
        (web("svc/db") + &db(office, ""), vec![]),
        (web("svc/db, 5m") + &service("db"), vec![]),
        (
            web("deploy/db; svc/dbb") + &db(office, "") + &service("db"),
            vain(&["9:33"]),
        ),
        (
            web("deploy/db") + &db(&format!("{office}'\n    dayshift/pause: 'true"), ""),
            vain(&["9:22"]),
        ),
        (
            web("deploy/db")
                + &db(
                    &format!("{office}'\n    dayshift/pause: '2099-01-01 00:00"),
                    "",
                ),
            vain(&["9:22"]),
        ),
        // It runs by then.
        (
            web("deploy/db")
                + &db(
                    &format!("{office}'\n    dayshift/pause: '2000-01-01 00:00"),
                    "",
                ),
            vec!["past-until 18:22".to_owned()],
        ),
        // Excluded, it runs all the time where its manifest says so.
        (
            web("deploy/db") + &db(&format!("{office}'\n    dayshift/exclude: 'true"), ""),
            vec![],
        ),
        (
            web("deploy/db")
                + &db(&format!("{office}'\n    dayshift/exclude: 'true"), "")
                + "spec:\n  replicas: 0\n",
            [
                vain(&["9:22"]),
                vec!["replicas-in-manifest 20:13".to_owned()],
            ]
            .concat(),
        ),
        // On Fridays alone.
        (
            web("deploy/db") + &db("Mon-Thu 09:00-19:00", ""),
            vain(&["9:22"]),
        ),
    ] {
        assert_eq!(found(&text), expected, "{text}");
    }
}
