//! Where the program says what it does: log lines on standard error.

use std::{fmt, io};

use anstyle::{AnsiColor, Style};
use chrono::SecondsFormat;
use dayshift_cluster::clock::Clock;
use dayshift_text::{TerminalSafe, printable};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer, time::FormatTime},
    registry::LookupSpan,
};

use crate::cli::output::terminal;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Logs, on standard error")]
pub(crate) struct LogArgs {
    /// One line of text or one JSON object for each event
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// error, warn, info, debug or trace; or a filter such as `info,kube=debug`
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = Filter::parse
    )]
    log_level: Filter,

    /// More output: -v is `--log-level debug`, -vv is `trace`
    #[arg(short, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogArgs {
    /// From here on log lines are written.
    pub(crate) fn start(&self) {
        self.start_on(Clock::system());
    }

    /// The same, with the time of that clock.
    pub(crate) fn start_on(&self, clock: Clock) {
        let timer = Timer(clock);
        let filter = match self.verbose {
            0 => self.log_level.clone(),
            1 => Filter::of(Level::DEBUG),
            _ => Filter::of(Level::TRACE),
        };
        let lines = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(filter.0))
            .with_writer(io::stderr)
            .with_ansi(terminal::colour(&io::stderr()));
        // Only a second call could fail, and then the first still holds.
        let _ = match self.log_format {
            LogFormat::Text => lines.event_format(Line(timer)).try_init(),
            LogFormat::Json => lines
                .json()
                .with_writer(|| TerminalSafe(io::stderr()))
                .with_timer(timer)
                .flatten_event(true)
                .with_current_span(false)
                .try_init(),
        };
    }
}

/// What kube says there of a request that failed and of a kubeconfig that is wrong may hold
/// credentials.
const SILENT: &str = "kube_client::client::builder=off,kube_client::config=off";

/// Which events are shown, in the syntax of [`EnvFilter`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter(String);

impl Filter {
    /// A level alone is dayshift's own; of the libraries beneath it only warnings are shown, and
    /// more of them only by name. What kube says of each failed
    /// request, dayshift says too.
    fn of(level: Level) -> Self {
        Self(format!("warn,{SILENT},dayshift={level}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(level) = text.parse() {
            return Ok(Self::of(level));
        }
        // A word alone would be taken for the name of a library.
        let is_filter = text.contains(['=', ',']) && EnvFilter::builder().parse(text).is_ok();
        let filter = || Self(format!("{text},{SILENT}"));
        is_filter.then(filter).ok_or_else(|| {
            "write error, warn, info, debug or trace, or a filter such as info,kube=debug"
                .to_owned()
        })
    }
}

/// `2026-11-20T10:00:00.004217Z  INFO started default/web: 1 -> 3 replicas lateness_ms=4`
///
/// What dayshift says itself stands without the name of a module; what a library says, with it.
struct Line(Timer);

/// The time as RFC 3339 in UTC, to the microsecond.
struct Timer(Clock);

impl FormatTime for Timer {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        let now = self.0.now();
        line.write_str(&now.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = *event.metadata().level();
        let target = event.metadata().target();
        let (faint, colour) = if line.has_ansi_escapes() {
            (Style::new().dimmed(), colour(level))
        } else {
            (Style::new(), Style::new())
        };
        write!(line, "{faint}")?;
        self.0.format_time(&mut line)?;
        write!(line, "{faint:#} {colour}{level:>5}{colour:#} ")?;
        // Its crates are called dayshift and dayshift_…
        if !target.starts_with("dayshift") {
            write!(line, "{faint}{target}:{faint:#} ")?;
        }
        let mut fields = String::new();
        context.format_fields(Writer::new(&mut fields), event)?;
        writeln!(line, "{}", printable(&fields))
    }
}

const fn colour(level: Level) -> Style {
    match level {
        Level::ERROR => AnsiColor::Red.on_default(),
        Level::WARN => AnsiColor::Yellow.on_default(),
        Level::INFO => AnsiColor::Green.on_default(),
        Level::DEBUG => AnsiColor::Blue.on_default(),
        Level::TRACE => AnsiColor::Magenta.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_dayshifts_own_and_a_filter_is_taken_as_it_stands() {
        for (text, expected) in [
            ("info", Some(Filter::of(Level::INFO))),
            ("DEBUG", Some(Filter::of(Level::DEBUG))),
            (
                "info,kube=debug",
                Some(Filter(
                    "info,kube=debug,kube_client::client::builder=off,kube_client::config=off"
                        .into(),
                )),
            ),
            ("verbose", None),
            ("dayshift=loud", None),
            ("", None),
        ] {
            assert_eq!(Filter::parse(text).ok(), expected, "{text}");
        }
    }
}
