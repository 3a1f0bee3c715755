//! A client for the dashboard: bytes on a socket, and a strict HTML reader.

use std::{
    io::{BufRead, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    fake_server::Cluster,
    program::{self, Running},
};

/// A running dashboard that stops when it is dropped.
pub(crate) struct Served {
    _child: Running,
    pub(crate) address: SocketAddr,
    /// The key in the printed URL, if it has one.
    pub(crate) key: Option<String>,
    /// The cookie that a browser keeps and sends with each request.
    pub(crate) cookie: Option<String>,
    /// The output before the URL.
    pub(crate) before: Vec<String>,
    _rest: Box<dyn BufRead + Send>,
}

impl Served {
    /// `dayshift dashboard` for a cluster.
    pub(crate) fn of(cluster: &Cluster, args: &[&str]) -> Self {
        Self::start(cluster.command().arg("dashboard").args(args))
    }

    /// `dayshift dashboard` for a cluster, with another `PATH`.
    pub(crate) fn with_path(cluster: &Cluster, args: &[&str], path: &str) -> Self {
        let mut command = cluster.command();
        Self::start(command.env("PATH", path).arg("dashboard").args(args))
    }

    /// `dayshift sandbox --dashboard 127.0.0.1:0`.
    pub(crate) fn sandbox(args: &[&str]) -> Self {
        let mut command = program::command();
        command.args(["sandbox", "--dashboard", "127.0.0.1:0"]);
        Self::start(command.args(args))
    }

    /// `dayshift run --dashboard-listen`, which logs the address.
    pub(crate) fn by_run(cluster: &Cluster, listen: &str) -> Self {
        Self::by_run_with(cluster, listen, &[])
    }

    /// Like [`Self::by_run`], with additional flags.
    pub(crate) fn by_run_with(cluster: &Cluster, listen: &str, flags: &[&str]) -> Self {
        let mut command = cluster.command();
        command.args(["run", "--listen=127.0.0.1:0", "--dashboard-listen", listen]);
        command.args(flags);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let rest = BufReader::new(child.stderr.take().unwrap());
        Self::of_lines(child, Box::new(rest), |line| {
            let (_, address) = line.split_once("the dashboard is served listen=")?;
            Some((address.replace("0.0.0.0", "127.0.0.1"), None))
        })
    }

    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let served = Self::of_lines(child, Box::new(out), |line| {
            let url = line.strip_prefix("dashboard: http://")?;
            let (address, key) = url.split_once("/?key=").unwrap();
            Some((address.to_owned(), Some(key.to_owned())))
        });
        let cookie = served.new_browser();
        Self {
            cookie: Some(cookie),
            ..served
        }
    }

    /// Reads the address from these lines of output.
    fn of_lines(
        mut child: Child,
        mut lines: Box<dyn BufRead + Send>,
        address: impl Fn(&str) -> Option<(String, Option<String>)>,
    ) -> Self {
        let mut before = Vec::new();
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap() == 0 {
                panic!("the browser has ended, {:?}: {before:?}", child.wait());
            }
            if let Some((address, key)) = address(line.trim()) {
                return Self {
                    _child: Running(child),
                    address: address.parse().unwrap(),
                    key,
                    cookie: None,
                    before,
                    _rest: lines,
                };
            }
            before.push(line.trim_end().to_owned());
        }
    }

    /// The cookie of another browser that opens the printed URL.
    pub(crate) fn new_browser(&self) -> String {
        let (host, key) = (self.address, self.key.as_ref().unwrap());
        let led = self.send_bare(&format!("GET /?key={key} HTTP/1.1\r\nhost: {host}"), b"");
        assert_eq!(led.status, 303, "{}", led.body);
        let cookie = led.header("set-cookie").unwrap().split(';').next();
        cookie.unwrap().to_owned()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        // On a busy machine a page of thousands of workloads takes half a minute.
        let timeout = Some(Duration::from_secs(120));
        stream.set_read_timeout(timeout).unwrap();
        stream
    }

    /// The response to these header lines, without an added `Host`.
    pub(crate) fn ask(&self, head: &str) -> Answer {
        self.send(head, b"")
    }

    /// Like [`Self::ask`], with a body that the server might not read completely.
    pub(crate) fn send(&self, head: &str, body: &[u8]) -> Answer {
        match &self.cookie {
            Some(cookie) => self.send_bare(&format!("{head}\r\ncookie: {cookie}"), body),
            None => self.send_bare(head, body),
        }
    }

    /// Like [`Self::send`], but without the cookie, unless the lines contain one.
    pub(crate) fn send_bare(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        write!(stream, "{head}\r\nconnection: close\r\n\r\n").unwrap();
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&String::from_utf8(answer).unwrap())
    }

    /// A page, after the cluster has been read.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let begun = Instant::now();
        loop {
            let host = self.address;
            let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nhost: {host}"));
            if !answer.body.contains("Reading the cluster") {
                return answer;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(300),
                "the page still reads the cluster"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A page that exists, parsed.
    pub(crate) fn page(&self, path: &str) -> Page {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        Page::read(&answer.body)
    }
}

/// A response over HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

/// A page, parsed more strictly than in any browser: all elements and attributes must be known,
/// closed and quoted, and all links must stay on the same server.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) nodes: Vec<Node>,
}

/// An element with its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    /// The index after its last descendant.
    end: usize,
}

const VOID: [&str; 3] = ["meta", "link", "input"];
const TAGS: &str = "html head meta title link body a header div span nav main h1 h2 h3 p section ul \
                    li table thead tbody tr th td time dl dt dd code pre mark strong details summary \
                    form label select option optgroup datalist input button svg defs pattern path rect ol script";
const ATTRIBUTES: &str = "lang class charset name content rel href type id aria-label aria-current \
                          aria-labelledby aria-hidden focusable tabindex role scope colspan data-heading datetime \
                          value selected list method action viewBox preserveAspectRatio width height \
                          patternUnits d fill title label autocomplete spellcheck placeholder hidden data-edges data-span \
                          data-inherited";
/// The only script that a page can have.
pub(crate) const SCRIPT: &str = include_str!("../../../src/dashboard/pages/edges.js");

impl Page {
    pub(crate) fn read(html: &str) -> Self {
        let mut rest = html
            .strip_prefix("<!DOCTYPE html>")
            .expect("a document type");
        let mut page = Self::default();
        let mut open: Vec<usize> = Vec::new();
        while !rest.is_empty() {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            assert!(!text.contains('>'), "a bare > in {text:?}");
            let text = unescaped(text);
            for at in &open {
                page.nodes[*at].text.push_str(&text);
            }
            rest = after;
            if let Some(closing) = rest.strip_prefix("</") {
                let (tag, after) = closing.split_once('>').unwrap();
                let at = open
                    .pop()
                    .unwrap_or_else(|| panic!("</{tag}> ends nothing"));
                assert_eq!(page.nodes[at].tag, tag);
                page.nodes[at].end = page.nodes.len();
                rest = after;
            } else if let Some(opening) = rest.strip_prefix('<') {
                let (node, after) = element(opening);
                page.nodes.push(node);
                let at = page.nodes.len() - 1;
                // Its content is not HTML.
                let after = match &*page.nodes[at].tag {
                    "script" => after
                        .strip_prefix(SCRIPT)
                        .expect("the dashboard's own script"),
                    _ => after,
                };
                if VOID.contains(&&*page.nodes[at].tag) {
                    page.nodes[at].end = at + 1;
                } else {
                    open.push(at);
                }
                rest = after;
            }
        }
        assert!(open.is_empty(), "{open:?} do not end");
        page
    }

    /// The text of the body.
    pub(crate) fn text(&self) -> &str {
        let body = self.nodes.iter().find(|it| it.tag == "body");
        &body.unwrap().text
    }

    /// The elements with this tag.
    pub(crate) fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |it| it.tag == tag)
    }

    /// The descendants of an element.
    pub(crate) fn within(&self, node: &Node) -> &[Node] {
        let at = self.nodes.iter().position(|it| std::ptr::eq(it, node));
        &self.nodes[at.unwrap() + 1..node.end]
    }

    /// The texts of the table cells of the row with this heading.
    pub(crate) fn cells(&self, heading: &str) -> Vec<String> {
        let mut rows = self.all("tr");
        let row = rows.find(|it| {
            let mut headings = self.within(it).iter().filter(|it| it.tag == "th");
            headings.next().is_some_and(|it| it.text == heading)
        });
        let row = row.unwrap_or_else(|| panic!("no {heading}: {}", self.text()));
        let cells = self.within(row).iter().filter(|it| it.tag == "td");
        cells.map(|it| it.text.clone()).collect()
    }
}

impl Node {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    pub(crate) fn has_class(&self, class: &str) -> bool {
        let classes = self.attribute("class").unwrap_or_default();
        classes.split(' ').any(|it| it == class)
    }
}

/// Parses an element after its `<`, and returns the rest.
fn element(text: &str) -> (Node, &str) {
    let end = text.find([' ', '>']).unwrap();
    let (tag, mut rest) = text.split_at(end);
    assert!(TAGS.split_whitespace().any(|it| it == tag), "<{tag}>");
    let mut attributes = Vec::new();
    while let Some(after) = rest.strip_prefix(' ') {
        let end = after.find(['=', ' ', '>']).unwrap();
        let (name, after) = after.split_at(end);
        let is_known = ATTRIBUTES.split_whitespace().any(|it| it == name);
        assert!(is_known, "{name} of <{tag}>");
        let (value, after) = match after.strip_prefix("=\"") {
            Some(quoted) => {
                let (value, after) = quoted.split_once('"').unwrap();
                (unescaped(value), after)
            }
            None => (String::new(), after),
        };
        if matches!(name, "href" | "action") {
            let is_own = value.starts_with('/') && !value.starts_with("//");
            assert!(is_own || value.starts_with('#'), "{name}={value}");
        }
        attributes.push((name.to_owned(), value));
        rest = after;
    }
    let rest = rest
        .strip_prefix('>')
        .unwrap_or_else(|| panic!("<{tag}{rest}"));
    let node = Node {
        tag: tag.to_owned(),
        attributes,
        ..Node::default()
    };
    (node, rest)
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').unwrap_or_else(|| panic!("&{part}"));
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            _ => panic!("&{name};"),
        });
        plain.push_str(rest);
    }
    plain
}
