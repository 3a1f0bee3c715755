//! The time and size of a dashboard page with 2,000 Deployments, from the request to the last byte.
//! The goals are 10 ms and 300 kB; at the end, it prints each median above 10 ms. The view of all objects
//! is built again once a second, which makes the slowest samples.
//!
//! `cargo bench --bench dashboard`
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    missing_docs,
    reason = "benchmarks can panic and print"
)]

mod manifest;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{LazyLock, Mutex},
    time::{Duration, Instant},
};

use divan::Bencher;

const DEPLOYMENTS: usize = 2_000;
const LIMIT: Duration = Duration::from_millis(10);

fn main() {
    divan::main();
    SERVED.report();
    SERVED.end();
}

/// The program, with Friday schedules for each Deployment.
struct Served {
    address: String,
    /// The cookie that the key in the printed URL grants.
    cookie: String,
    /// The CSRF token of its forms.
    token: String,
    program: Mutex<Child>,
}

static SERVED: LazyLock<Served> = LazyLock::new(|| {
    let file = manifest::file("dashboard.yaml", DEPLOYMENTS, |nth| {
        let (hour, minute) = (6 + nth % 4, nth / 4 % 60);
        [
            ("start", format!("Mon-Fri {hour:02}:{minute:02}")),
            ("stop", "Mon-Fri 19:00".to_owned()),
            ("timezone", "Europe/Berlin".to_owned()),
        ]
    });
    let mut program: Child = Command::new(env!("CARGO_BIN_EXE_dayshift"))
        .args(["sandbox", "--for", "2d", "--dashboard", "127.0.0.1:0"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let (address, key) = lines
        .find_map(|line| {
            let line = line.unwrap();
            let (_, url) = line.split_once("http://")?;
            let (address, key) = url.trim().split_once('/')?;
            Some((address.to_owned(), format!("/{key}")))
        })
        .unwrap();
    // If its output is not read, the program blocks.
    std::thread::spawn(move || lines.for_each(drop));
    let mut served = Served {
        address,
        cookie: String::new(),
        token: String::new(),
        program: Mutex::new(program),
    };
    let entered = served.get(&key).to_lowercase();
    let (_, cookie) = entered.split_once("set-cookie: ").unwrap();
    cookie
        .split(';')
        .next()
        .unwrap()
        .clone_into(&mut served.cookie);
    // Until all are listed, the page shows a note.
    let all = format!("{DEPLOYMENTS} workloads");
    while !served.get("/timeline").contains(&all) {
        std::thread::sleep(Duration::from_millis(100));
    }
    for page in PAGES {
        let answer = served.get(page);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{page}: {answer}");
        eprintln!("{page}: {} bytes", answer.len());
        assert!(answer.len() < 300_000, "{page}: {} bytes", answer.len());
    }
    let form = served.get("/timeline?q=app-");
    let (_, token) = form.split_once("name=\"token\" value=\"").unwrap();
    token
        .split('"')
        .next()
        .unwrap()
        .clone_into(&mut served.token);
    let preview = served.preview();
    assert!(preview.contains("2000 workloads</strong> will change"));
    eprintln!("preview of all: {} bytes", preview.len());
    assert!(preview.len() < 300_000, "{} bytes", preview.len());
    served
});

const PAGES: [&str; 8] = [
    "/",
    "/timeline",
    "/timeline?q=app-19",
    "/namespaces",
    "/ns/default",
    "/ns/default/what-if?hours=Mon-Fri+09:00-17:00",
    "/object/default/deploy/app-7",
    "/object/default/deploy/app-7/schedule",
];

impl Served {
    /// The complete response with its head.
    fn get(&self, page: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "GET {page} HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
            self.cookie
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The preview of a wake of all Deployments.
    fn preview(&self) -> String {
        let body = format!("token={}&do=wake&for=2h&match=q%3Dapp-", self.token);
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "POST /confirm HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n\
             Cookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.cookie,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Prints each page whose median is above the limit.
    fn report(&self) {
        let pages = PAGES.map(|page| (page, median(|| self.get(page))));
        let preview = ("preview of all", median(|| self.preview()));
        let all = pages.into_iter().chain([preview]);
        let mut slow: Vec<_> = all.filter(|(_, time)| *time > LIMIT).collect();
        slow.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        for (page, time) in &slow {
            eprintln!("ABOVE THE LIMIT of {LIMIT:?}: {page}: {time:.1?}");
        }
        if slow.is_empty() {
            eprintln!("each page takes less than {LIMIT:?}");
        }
    }

    fn end(&self) {
        let mut program = self.program.lock().unwrap();
        program.kill().unwrap();
        program.wait().unwrap();
    }
}

fn median(answer: impl Fn() -> String) -> Duration {
    let mut times: Vec<_> = (0..25)
        .map(|_| {
            let begun = Instant::now();
            drop(answer());
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[divan::bench(args = PAGES, sample_count = 200, sample_size = 1)]
fn two_thousand_deployments(bencher: Bencher<'_, '_>, page: &str) {
    let served = &*SERVED;
    bencher.bench_local(|| served.get(page));
}

/// The preview of a wake of all Deployments, which also asks the API server for the permissions.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn preview_of_two_thousand_deployments(bencher: Bencher<'_, '_>) {
    let served = &*SERVED;
    bencher.bench_local(|| served.preview());
}
