//! The nightly scenarios, and the page that names the test which covers each of them on each
//! change.

use std::collections::BTreeSet;

use libtest_mimic::Trial;

use crate::e2e;
use crate::reliability::{self, Profile};

const PAGE: &str = include_str!("../../docs/contributing/nightly.md");

/// Checks that the page has exactly one row for each nightly scenario.
pub(crate) fn trial() -> Trial {
    Trial::test("nightly_table::has_each_nightly_scenario", || {
        let scenarios = [e2e::scenarios(), e2e::busy_scenarios()].concat();
        let scenarios = scenarios.into_iter().filter(|it| it.is_nightly);
        let cases = reliability::cases(Profile::Short);
        let cases = cases.into_iter().filter(|it| it.is_nightly);
        let reported: BTreeSet<String> = scenarios
            .map(|it| it.name)
            .chain(cases.map(|it| it.name))
            .map(|name| name.trim_start_matches("cluster::").to_owned())
            .collect();
        let rows: BTreeSet<String> = PAGE
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name.to_owned())
            .filter(|name| name.starts_with("e2e::") || name.starts_with("reliability::"))
            .collect();
        if reported == rows {
            return Ok(());
        }
        let missing: Vec<_> = reported.difference(&rows).collect();
        let left_over: Vec<_> = rows.difference(&reported).collect();
        Err(format!("no row: {missing:#?}\nno nightly scenario: {left_over:#?}").into())
    })
}
