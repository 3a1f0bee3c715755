//! What HTTP clients are answered that are not handed on.

use chrono::{DateTime, SecondsFormat, Utc};
use maud::{DOCTYPE, html};

use crate::connections::head::Head;
use crate::service::ServiceName;

/// After how many seconds a page asks again, and a client should.
const RETRY_AFTER: u32 = 3;

/// What a page tells of a Service.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) service: ServiceName,
    /// Since when it sleeps.
    pub(crate) since: Option<DateTime<Utc>>,
    /// How many seconds it took to be ready the last times.
    pub(crate) took: Vec<u64>,
}

/// The answer to a browser while a wake is under way: a page that asks again by itself.
pub(crate) fn starting(head: &Head, story: &Story) -> Vec<u8> {
    let took: Vec<_> = story.took.iter().map(|it| format!("{it} s")).collect();
    let body = page(
        &format!("{} is starting", story.service.name),
        html! {
            p { "This page shows what you asked for as soon as it is ready." }
            @if let Some(since) = story.since {
                p { "Stopped since " (since.to_rfc3339_opts(SecondsFormat::Secs, true)) "." }
            }
            @if !took.is_empty() {
                p { "The last starts took " (took.join(", ")) "." }
            }
        },
        true,
    );
    answer(head, "text/html; charset=utf-8", Some(RETRY_AFTER), &body)
}

/// The answer where nothing will come: why.
pub(crate) fn refused(head: &Head, story: &Story, why: &str) -> Vec<u8> {
    if !head.wants_page {
        return plain(head, &format!("{} is stopped: {why}\n", story.service));
    }
    let title = format!("{} is stopped", story.service.name);
    let body = page(&title, html! { p { (why) "." } }, false);
    answer(head, "text/html; charset=utf-8", None, &body)
}

/// The answer to others, in a line.
pub(crate) fn plain(head: &Head, text: &str) -> Vec<u8> {
    answer(head, "text/plain; charset=utf-8", None, text)
}

#[expect(clippy::needless_pass_by_value, reason = "as html! gives it")]
fn page(title: &str, body: maud::Markup, asks_again: bool) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                @if asks_again { meta http-equiv="refresh" content=(RETRY_AFTER); }
                title { (title) }
            }
            body style="font-family: system-ui, sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em" {
                h1 { (title) }
                (body)
            }
        }
    }
    .into_string()
}

fn answer(head: &Head, media: &str, retry_after: Option<u32>, body: &str) -> Vec<u8> {
    let retry_after = retry_after.map_or_else(String::new, |it| format!("Retry-After: {it}\r\n"));
    let length = body.len();
    let body = if head.is_without_body { "" } else { body };
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\
         {retry_after}Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story() -> Story {
        Story {
            service: ServiceName {
                namespace: "dev".into(),
                name: "<web>".into(),
            },
            since: DateTime::from_timestamp(0, 0),
            took: vec![12, 9],
        }
    }

    #[test]
    fn a_browser_gets_a_page_that_asks_again_and_runs_no_script() {
        let head = Head {
            wants_page: true,
            ..Head::default()
        };
        let page = String::from_utf8(starting(&head, &story())).unwrap();
        assert!(page.starts_with("HTTP/1.1 503 "), "{page}");
        for part in [
            "Retry-After: 3\r\n",
            "http-equiv=\"refresh\" content=\"3\"",
            "&lt;web&gt; is starting",
            "12 s, 9 s",
            "since 1970-01-01T00:00:00Z",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("<web>"));
        let (head, body) = page.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
    }

    #[test]
    fn the_answer_to_a_head_has_no_body() {
        let head = Head {
            is_without_body: true,
            ..Head::default()
        };
        let answer = String::from_utf8(refused(&head, &story(), "it is paused")).unwrap();
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}
