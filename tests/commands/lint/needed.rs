//! Unsatisfiable dependencies in files.

use super::program::found;

/// A Deployment in `dev` with running hours and dependencies.
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
fn finds_an_unsatisfiable_dependency() {
    let office = "Mon-Fri 09:00-19:00";
    let web = |after: &str| object("web", office, after);
    let db = |hours: &str, after: &str| object("db", hours, after);
    let vain = |places: &[&str]| -> Vec<String> {
        let each = places.iter();
        each.map(|it| format!("unsatisfiable-dependency {it}"))
            .collect()
    };
    for (text, expected) in [
        (web("deploy/db") + &db(office, ""), vec![]),
        // The files contain no other objects of the namespace, so the database might be defined
        // elsewhere.
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
        // A Service and its workload are different objects. If the files contain no Services, it
        // might be defined elsewhere.
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
        // The dependency is running by then.
        (
            web("deploy/db")
                + &db(
                    &format!("{office}'\n    dayshift/pause: '2000-01-01 00:00"),
                    "",
                ),
            vec!["past-until 18:22".to_owned()],
        ),
        // An excluded workload is always running if its manifest has replicas.
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
        // Only on Fridays.
        (
            web("deploy/db") + &db("Mon-Thu 09:00-19:00", ""),
            vain(&["9:22"]),
        ),
    ] {
        assert_eq!(found(&text), expected, "{text}");
    }
}
