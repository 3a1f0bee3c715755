//! Metrics that answer: what does dayshift cost?

use std::{collections::BTreeMap, fs, time::Duration};

use kube_in_memory::{Fault, RequestLine, Status};
use rustix::time::{ClockId, clock_gettime};

use super::row::Row;
use crate::sandbox::{Sandbox, deployment};

/// Compared with the request log of the API, which has no code for a request without a response.
pub(super) fn counts_requests_by_response_code(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web"] {
        scenario.apply(deployment(name).replicas(3).stop("19:00"));
    }
    let patched = r#"{verb="patch",code="200"}"#;
    row.expect(&scenario, patched, 2.0);
    scenario.sleep_until("18:59");
    scenario.api.fail_next(
        |line| line.verb == "patch" && line.name == "web",
        Fault::DropBefore,
    );
    scenario.sleep_until("19:05");
    row.expect(&scenario, patched, 4.0);
    row.expect(&scenario, r#"{verb="patch",code="error"}"#, 1.0);
    row.expect(&scenario, r#"{verb="create",code="201"}"#, 2.0);

    let mut expected = BTreeMap::new();
    for line in scenario.api.requests() {
        let code = line.code.map_or("error".to_owned(), |it| it.to_string());
        let series = format!(r#"{{code="{code}",verb="{}"}}"#, line.verb);
        *expected.entry(series).or_insert(0.0) += 1.0;
    }
    assert_eq!(row.samples(&scenario), expected);
}

/// A watch that ends on time is also reopened, but is not counted.
pub(super) fn counts_interrupted_watches(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.sleep_until("19:00");
    row.expect(&scenario, "", 0.0);
    let fails = |line: &RequestLine| line.verb == "watch" && line.resource == "deployments";
    let internal = Fault::Answer(Status::internal("etcd is away"));
    scenario.api.fail_next(fails, internal);
    scenario.api.close_watches();
    scenario.sleep_until("19:10");
    row.expect(&scenario, "", 1.0);
}

/// One namespace has 12 adoptions, 32 stops, 6 Events and 24 slow requests in the queue.
pub(super) fn counts_queued_requests_by_priority_class(row: &mut Row) {
    let class = |class: &str| format!("{{class=\"{class}\"}}");
    let takes = |scenario: &Sandbox, verb: &'static str, time: Duration| {
        let delay = move |line: &RequestLine| (line.verb == verb).then_some(Fault::Delay(time));
        scenario.api.on_request(delay);
    };
    let crowd = || {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        takes(&scenario, "patch", Duration::from_millis(900));
        for number in 0..100 {
            let web = deployment(&format!("web-{number}")).replicas(3);
            scenario.api.apply(web.stop("19:00").into()).unwrap();
        }
        scenario.settle();
        scenario
    };
    let scenario = crowd();
    row.expect_all(&scenario, [(&*class("adoption"), 88.0)]);
    scenario.sleep_until("18:59");
    row.expect_all(&scenario, []);
    scenario.sleep_until("19:00");
    row.expect_all(&scenario, [(&*class("transition"), 68.0)]);
    scenario.sleep_until("19:10");
    row.expect_all(&scenario, []);

    let scenario = crowd();
    scenario.sleep_until("18:59");
    takes(&scenario, "create", Duration::from_millis(900));
    scenario.sleep_until("19:00");
    row.expect_all(&scenario, [(&*class("event"), 94.0)]);
    scenario.sleep_until("19:10");
    row.expect_all(&scenario, []);

    let scenario = crowd();
    scenario.sleep_until("18:59");
    takes(&scenario, "patch", Duration::from_secs(3600));
    // Each of them was slow once.
    scenario.sleep_until("19:00:18");
    row.expect_all(&scenario, [(&*class("slow"), 76.0)]);
}

/// By the process clock of the kernel; the metric has a resolution of 10 ms.
pub(super) fn cpu_time_equals_the_process_clock(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let used = || {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        Duration::try_from(used).unwrap().as_secs_f64()
    };
    let begin = used();
    while used() < begin + 0.3 {
        let before = used();
        let metric = row.samples(&scenario)[""];
        row.expect_between(metric, before - 0.03, used() + 0.03);
    }
}

/// By proc_pid_smaps(5). Other tests allocate and free memory meanwhile.
pub(super) fn resident_memory_equals_that_of_the_process(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let resident = || {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        let kibibytes = rollup.lines().find_map(|line| line.strip_prefix("Rss:"));
        let kibibytes = kibibytes.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<f64>().unwrap() * 1024.0
    };
    let others = f64::from(64 << 20);
    let mut held = Vec::new();
    for bytes in [0, 512 << 20] {
        held.push(std::hint::black_box(vec![1_u8; bytes]));
        let before = resident();
        let metric = row.samples(&scenario)[""];
        let after = resident();
        row.expect_between(
            metric,
            before.min(after) - others,
            before.max(after) + others,
        );
    }
}

pub(super) fn start_time_equals_that_of_the_process(row: &mut Row) {
    // `date -ud 2026-11-20T18:00Z +%s`
    for (at, seconds) in [
        ("2026-11-20 18:00 UTC", 1_795_197_600.0),
        ("2026-11-20 18:00 Asia/Tokyo", 1_795_165_200.0),
    ] {
        let scenario = Sandbox::at(at);
        row.expect_about(&scenario, "", seconds, 0.01);
        scenario.sleep_until("20:00");
        row.expect_about(&scenario, "", seconds, 0.01);
    }
}
