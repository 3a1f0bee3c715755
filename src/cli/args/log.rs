//! The flags of the log, and the format of its lines on standard error.

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
        value_parser = LogFilter::parse
    )]
    log_level: LogFilter,

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
    /// Starts logging with the system clock.
    pub(crate) fn start(&self) {
        self.start_on(Clock::system());
    }

    /// Starts logging with the time of this clock.
    pub(crate) fn start_on(&self, clock: Clock) {
        let timer = LogTimer(clock);
        let filter = match self.verbose {
            0 => self.log_level.clone(),
            1 => LogFilter::from_level(Level::DEBUG),
            _ => LogFilter::from_level(Level::TRACE),
        };
        let lines = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(filter.0))
            .with_writer(io::stderr)
            .with_ansi(terminal::color(&io::stderr()));
        // If a logger is already set, the first one stays.
        let _ = match self.log_format {
            LogFormat::Text => lines.event_format(LogLine(timer)).try_init(),
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

/// kube logs failed requests and invalid kubeconfigs in these modules, and its messages can contain
/// credentials.
const SILENT: &str = "kube_client::client::builder=off,kube_client::config=off";

/// A filter in the syntax of [`EnvFilter`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct LogFilter(String);

impl LogFilter {
    /// A level applies to dayshift only. Libraries log warnings, and more only if the filter names
    /// them. dayshift itself reports each failed request that kube logs.
    fn from_level(level: Level) -> Self {
        Self(format!("warn,{SILENT},dayshift={level}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(level) = text.parse() {
            return Ok(Self::from_level(level));
        }
        // `EnvFilter` would take a single word for the name of a library.
        let is_filter = text.contains(['=', ',']) && EnvFilter::builder().parse(text).is_ok();
        let filter = || Self(format!("{text},{SILENT}"));
        is_filter.then(filter).ok_or_else(|| {
            "write error, warn, info, debug or trace, or a filter such as info,kube=debug"
                .to_owned()
        })
    }
}

/// The format `2026-11-20T10:00:00.004217Z  INFO started default/web: 1 -> 3 replicas
/// lateness_ms=4`.
///
/// Messages of libraries include the name of their module.
struct LogLine(LogTimer);

/// RFC 3339 in UTC, with microseconds.
struct LogTimer(Clock);

impl FormatTime for LogTimer {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        let now = self.0.now();
        line.write_str(&now.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl<S, N> FormatEvent<S, N> for LogLine
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
        let (faint, color) = if line.has_ansi_escapes() {
            (Style::new().dimmed(), color(level))
        } else {
            (Style::new(), Style::new())
        };
        write!(line, "{faint}")?;
        self.0.format_time(&mut line)?;
        write!(line, "{faint:#} {color}{level:>5}{color:#} ")?;
        // dayshift's own crates are named `dayshift` and `dayshift_…`.
        if !target.starts_with("dayshift") {
            write!(line, "{faint}{target}:{faint:#} ")?;
        }
        let mut fields = String::new();
        context.format_fields(Writer::new(&mut fields), event)?;
        writeln!(line, "{}", printable(&fields))
    }
}

const fn color(level: Level) -> Style {
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
    fn applies_a_level_to_dayshift_and_keeps_a_filter() {
        for (text, expected) in [
            ("info", Some(LogFilter::from_level(Level::INFO))),
            ("DEBUG", Some(LogFilter::from_level(Level::DEBUG))),
            (
                "info,kube=debug",
                Some(LogFilter(
                    "info,kube=debug,kube_client::client::builder=off,kube_client::config=off"
                        .into(),
                )),
            ),
            ("verbose", None),
            ("dayshift=loud", None),
            ("", None),
        ] {
            assert_eq!(LogFilter::parse(text).ok(), expected, "{text}");
        }
    }
}
