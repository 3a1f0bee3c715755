//! The cost of single operations, without a cluster.

use std::hint::black_box;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_activator::probe::ActivatorProbe;
use dayshift_cluster::{
    Workload,
    connect::compact,
    decode::{Trim as _, WithManagers},
    write::guarded_patch,
};
use dayshift_controller::Scheduler;
use dayshift_schedule::Zone;
use dayshift_workload::{
    Inputs, Key, Kind, ParseContext, ParsedInputs, Prefix, ScheduleSpec, read,
};
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Bytes;
use kube::{
    Client,
    client::Body,
    core::{ObjectList, WatchEvent},
};
use serde_json::{Value, json};
use tokio::runtime;
use tower::service_fn;

use super::{
    case::{Case, Operation, operation},
    stopped::{MORNING, NIGHT, Stopped, at, hours, stored_object},
};

const MANY: u32 = 100;
const JOBS: u32 = 1_000_000;
const FEWER_JOBS: u32 = 10_000;

pub(crate) fn cases() -> Vec<Case> {
    let one = |name, each_of, prepare| Case {
        name,
        each_of,
        twice: true,
        instructions: true,
        prepare,
    };
    vec![
        one("read start and stop", 1, || parsed(times())),
        one("read hours", 1, || parsed(hours())),
        one("refuse a misspelt day", 1, || parsed(misspelt())),
        one("next boundary of start and stop", MANY, || next(times())),
        one("next boundary of hours", MANY, || next(hours())),
        one(
            "newest boundary of start and stop",
            MANY,
            || newest(times()),
        ),
        one("decide: nothing is due", MANY, || decision(at(NIGHT, 60))),
        one("decide: a start is due", MANY, || decision(at(MORNING, 0))),
        one("decide: first sight", MANY, first_sight),
        one("patch of a start", MANY, patch),
        one("decode a plain event", 1, || event(&json!({}))),
        one("decode an event with a schedule", 1, || event(&times())),
        one("decode a plain page of 100", 100, || page(&json!({}))),
        one(
            "decode a page of 100 with schedules",
            100,
            || page(&times()),
        ),
        one("decode a page of 100 with 10 kB of other text", 100, || {
            page(&other_text())
        }),
        one(
            "commands: keep a page of 100 with 10 kB of other text",
            100,
            kept_page,
        ),
        one("decode a plain one in protobuf", 1, || in_protobuf(&[])),
        one("decode one with a schedule in protobuf", 1, || {
            in_protobuf(&hours_in_protobuf())
        }),
        one("10,000 jobs: make due", FEWER_JOBS, || make_due(FEWER_JOBS)),
        one("10,000 jobs: take", FEWER_JOBS, || take(FEWER_JOBS)),
        Case {
            twice: false,
            instructions: false,
            ..one("1,000,000 jobs: make due", JOBS, || make_due(JOBS))
        },
        Case {
            instructions: false,
            ..one("activator: observe a stopped workload", MANY, || {
                activator(&json!({}))
            })
        },
        Case {
            instructions: false,
            ..one("activator: observe 40 kB of annotations", MANY, || {
                let texts = Key::ALL.into_iter().take(10).map(|key| {
                    (
                        format!("dayshift/{}", key.name()),
                        Value::from("x".repeat(4_000)),
                    )
                });
                activator(&texts.collect())
            })
        },
    ]
}

/// The work of the activator when it observes stopped workloads with these annotations.
fn activator(annotations: &Value) -> Operation {
    let objects = (0..MANY).map(|number| {
        let mut annotations = annotations.clone();
        annotations["dayshift/wake-on-request"] = json!("2h");
        let object = json!({
            "metadata": {
                "namespace": "dev", "name": format!("web-{number:03}"), "uid": format!("{number:036}"),
                "annotations": annotations, "labels": {"dayshift/state": "stopped"},
            },
            "spec": {"replicas": 0, "template": {"metadata": {"labels": {"app": "web"}}}},
        });
        object.to_string().into_bytes()
    });
    let objects: Vec<_> = objects.collect();
    operation(
        (ActivatorProbe::default(), objects),
        |(activator, objects)| {
            for object in objects {
                assert!(activator.observe_deployment(object));
            }
        },
    )
}

fn times() -> Value {
    json!({
        "dayshift/start": "Mon-Fri 09:00; Sat 10:00",
        "dayshift/stop": "0 19 * * Mon-Fri; Sat 14:00",
        "dayshift/timezone": "Europe/Berlin",
        "dayshift/except": "2026-12-24..2027-01-03; 2027-05-01",
        "dayshift/jitter": "5m",
    })
}

fn misspelt() -> Value {
    json!({"dayshift/start": "Mon-Fry 09:00", "dayshift/stop": "Mon-Fri 19:00"})
}

fn inputs(annotations: &Value) -> Inputs {
    let annotations = annotations.as_object().unwrap();
    let texts = annotations
        .iter()
        .map(|(key, text)| (&**key, text.as_str().unwrap()));
    Inputs::from_annotations(&Prefix::default(), texts)
}

fn spec(annotations: &Value) -> ScheduleSpec {
    match read(&inputs(annotations), &Zone::UTC.into()) {
        ParsedInputs::Scheduled(spec) => spec,
        other => panic!("{other:?}"),
    }
}

fn parsed(annotations: Value) -> Operation {
    let inputs = inputs(&annotations);
    let state = (inputs, ParseContext::default());
    operation(state, |(inputs, context)| read(black_box(inputs), context))
}

/// Times across a year, with clock changes.
fn instants() -> impl Iterator<Item = DateTime<Utc>> {
    (0..i64::from(MANY)).map(|nth| at(NIGHT, nth * 5261))
}

fn next(annotations: Value) -> Operation {
    operation(spec(&annotations), |spec| {
        for instant in instants() {
            black_box(spec.schedule.next_after(instant, TimeDelta::zero()));
        }
    })
}

fn newest(annotations: Value) -> Operation {
    operation(spec(&annotations), |spec| {
        for instant in instants() {
            black_box(spec.schedule.latest_at(instant, TimeDelta::zero()));
        }
    })
}

fn decision(now: DateTime<Utc>) -> Operation {
    operation(Stopped::observe(), move |stopped| {
        for _ in 0..MANY {
            black_box(stopped.decide(black_box(now)));
        }
    })
}

fn first_sight() -> Operation {
    operation(Stopped::from_object(stored_object(&hours())), |new| {
        for _ in 0..MANY {
            black_box(new.decide(at(NIGHT, -60)));
        }
    })
}

fn patch() -> Operation {
    let stopped = Stopped::observe();
    let start = stopped.write(at(MORNING, 0));
    operation((stopped, start), |(stopped, start)| {
        for _ in 0..MANY {
            let patch = guarded_patch(&stopped.observed, start, &Prefix::default());
            black_box(serde_json::to_vec(&patch).unwrap());
        }
    })
}

fn event(annotations: &Value) -> Operation {
    // The server sends the type before the object; `json!` would sort them.
    let event = format!(
        r#"{{"type":"MODIFIED","object":{}}}"#,
        stored_object(annotations)
    );
    operation(event, |event| {
        serde_json::from_str::<WatchEvent<Workload>>(event).unwrap()
    })
}

fn page(annotations: &Value) -> Operation {
    let items = vec![stored_object(annotations); 100];
    let page = json!({
        "apiVersion": "apps/v1", "kind": "DeploymentList",
        "metadata": {"resourceVersion": "1"}, "items": items,
    });
    operation(page.to_string(), |page| {
        serde_json::from_str::<ObjectList<Workload>>(page).unwrap()
    })
}

/// Annotations that dayshift does not read.
fn other_text() -> Value {
    json!({"example.com/notes": "x".repeat(10_000)})
}

/// The memory that a command keeps of a page: the operation holds only that.
fn kept_page() -> Operation {
    let items = vec![stored_object(&other_text()); 100];
    let page = json!({
        "apiVersion": "apps/v1", "kind": "DeploymentList",
        "metadata": {"resourceVersion": "1"}, "items": items,
    });
    operation(page.to_string(), |page| {
        let list = serde_json::from_str::<ObjectList<WithManagers>>(page).unwrap();
        let kept = list.items.into_iter().map(|mut object| {
            object.trim(&Kind::DEPLOYMENT, &Prefix::default());
            object
        });
        kept.collect::<Vec<_>>()
    })
}

/// A message field of protobuf.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut rest = content.len();
    while rest >= 0x80 {
        bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    bytes.extend(content);
    bytes
}

fn entry(number: u8, key: &str, text: &str) -> Vec<u8> {
    field(
        number,
        &[field(1, key.as_bytes()), field(2, text.as_bytes())].concat(),
    )
}

fn hours_in_protobuf() -> Vec<u8> {
    let hours = hours();
    let texts = hours.as_object().unwrap().iter();
    texts
        .flat_map(|(key, text)| entry(12, key, text.as_str().unwrap()))
        .collect()
}

/// A Deployment in protobuf, as the API server sends it to `dayshift run`, of the size of
/// [`large`](crate::large::large). The manifest, the managed fields and the pod template are filler,
/// because the decoder skips them.
fn in_protobuf(annotations: &[u8]) -> Operation {
    let filler = vec![0; 4000];
    let metadata = [
        field(1, b"checkout"),
        field(3, b"default"),
        field(5, b"376816d6-33eb-4ff3-a74a-7c740173d448"),
        field(6, b"38308"),
        entry(11, "app.kubernetes.io/name", "checkout"),
        entry(11, "team", "checkout"),
        entry(
            12,
            "kubectl.kubernetes.io/last-applied-configuration",
            &"{".repeat(4000),
        ),
        annotations.to_vec(),
        field(13, &filler),
    ];
    let spec = [vec![1 << 3, 3], field(3, &filler)];
    let deployment = [field(1, &metadata.concat()), field(2, &spec.concat())].concat();
    let types = [field(1, b"apps/v1"), field(2, b"Deployment")].concat();
    let message = [b"k8s\0".to_vec(), field(1, &types), field(2, &deployment)].concat();
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    let client = runtime.block_on(async {
        let body = Bytes::from(message);
        let server = service_fn(move |_: Request<Body>| {
            let answer = Response::builder()
                .header(header::CONTENT_TYPE, "application/vnd.kubernetes.protobuf")
                .body(Full::new(body.clone()));
            async { answer }
        });
        compact(Client::new(server, "default"))
    });
    operation((runtime, client), |(runtime, client)| {
        let path = "/apis/apps/v1/namespaces/default/deployments/checkout";
        let request = Request::get(path).body(Vec::new()).unwrap();
        runtime
            .block_on(client.request::<Workload>(request))
            .unwrap()
    })
}

/// A time of the day for each job: some seconds have many jobs.
fn instant(job: u32) -> DateTime<Utc> {
    at(NIGHT, i64::from(job) * 7919 % 1440)
}

fn full(jobs: u32) -> Scheduler<u32, DateTime<Utc>> {
    let mut scheduler = Scheduler::new();
    for job in 0..jobs {
        scheduler.set(job, instant(job));
    }
    scheduler
}

fn make_due(jobs: u32) -> Operation {
    operation((), move |()| full(jobs))
}

fn take(jobs: u32) -> Operation {
    operation(full(jobs), |scheduler| {
        while let Some(due) = scheduler.take_due(at(NIGHT, 1440)) {
            black_box(due);
        }
    })
}
