//! Shell completion: `dayshift completions` prints the scripts, and `dayshift __complete WORD…` answers
//! them.
//!
//! The answer has the format of cobra, which kubectl expects from its plugins: one candidate per line, a tab
//! before its description, and a last line with a directive.

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};

use clap::{Arg, Command, builder::StyledStr};
use dayshift_cluster::{
    Query, Workload,
    connect::{Connection, connect_silently},
    read::{find, namespace_names},
};
use dayshift_schedule::Tzdata;
use dayshift_text::printable;
use dayshift_workload::{Kind, KindTable};

use crate::cli::{
    args::kinds::custom_kind,
    process::{Exit, block_on},
};

/// Shell completion should not block the user for longer than this.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// cobra's `ShellCompDirectiveDefault`: file names may follow.
const FILE_COMPLETION: u8 = 0;
/// cobra's `ShellCompDirectiveNoFileComp`.
const NO_FILE_COMPLETION: u8 = 4;

/// The words before the last one.
struct TypedWords<'a> {
    command: &'a Command,
    tzdata: &'a Tzdata,
    table: &'a KindTable,
    /// The values of flags, by the id of the flag.
    flags: Vec<(String, String)>,
    positionals: usize,
    /// The flag that expects a value next.
    pending: Option<&'a Arg>,
    only_positionals: bool,
}

/// Texts with their descriptions.
type Candidates = Vec<(String, String)>;

/// The candidates for the last word, in cobra's format.
pub(crate) fn complete(
    mut root: Command,
    words: &[String],
    tzdata: &Tzdata,
    table: &KindTable,
) -> String {
    root.build();
    let mut typed = TypedWords {
        command: &root,
        tzdata,
        table,
        flags: Vec::new(),
        positionals: 0,
        pending: None,
        only_positionals: false,
    };
    let (last, before) = words
        .split_last()
        .map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    before.iter().for_each(|word| typed.take(word));
    let (candidates, directive) = typed.candidates(last);
    let mut lines = String::new();
    for (candidate, help) in candidates {
        let help = help.lines().next().unwrap_or_default();
        let tab = if help.is_empty() { "" } else { "\t" };
        lines += &format!("{}{tab}{}\n", printable(&candidate), printable(help));
    }
    lines + &format!(":{directive}\n")
}

impl<'a> TypedWords<'a> {
    fn take(&mut self, word: &str) {
        if let Some(flag) = self.pending.take() {
            self.set(flag, Some(word));
        } else if self.only_positionals || word == "-" || !word.starts_with('-') {
            match self.command.find_subcommand(word) {
                Some(command) if !self.only_positionals => self.command = command,
                _ => self.positionals += 1,
            }
        } else if word == "--" {
            self.only_positionals = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            if let Some(flag) = self.long(name) {
                self.set(flag, value);
            }
        } else {
            // The first of several short flags that takes a value takes the rest of the word.
            let valued = word.char_indices().skip(1).find_map(|(at, short)| {
                let flag = self.flag(|flag| flag.get_short() == Some(short))?;
                takes_value(flag).then(|| (flag, &word[at + short.len_utf8()..]))
            });
            if let Some((flag, value)) = valued {
                let value = value.strip_prefix('=').unwrap_or(value);
                self.set(flag, Some(value).filter(|value| !value.is_empty()));
            }
        }
    }

    /// Records the value of a flag. Without one, it is the next word.
    fn set(&mut self, flag: &'a Arg, value: Option<&str>) {
        match value {
            _ if !takes_value(flag) => {}
            Some(value) => self
                .flags
                .push((flag.get_id().to_string(), value.to_owned())),
            None => self.pending = Some(flag),
        }
    }

    fn flag(&self, is_it: impl Fn(&Arg) -> bool) -> Option<&'a Arg> {
        self.command.get_arguments().find(|flag| is_it(flag))
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.flag(|flag| flag.get_long() == Some(name))
    }

    fn candidates(&self, last: &str) -> (Candidates, u8) {
        let is_flag = last.starts_with('-') && !self.only_positionals;
        let assigned = last
            .strip_prefix("--")
            .and_then(|text| text.split_once('='))
            .and_then(|(name, value)| Some((self.long(name)?, value)));
        let valued = self.pending.map(|flag| (flag, last));
        let valued = valued.or(assigned.filter(|_| is_flag));
        let (mut found, directive) = match valued {
            Some((flag, typed)) => self.values(flag, typed),
            None if is_flag => {
                let flags = self.command.get_arguments();
                let flags = flags.filter(|flag| !flag.is_hide_set());
                let named =
                    |flag: &Arg| Some((format!("--{}", flag.get_long()?), text(flag.get_help())));
                (flags.filter_map(named).collect(), NO_FILE_COMPLETION)
            }
            None => self.positionals(last),
        };
        let typed = valued.map_or(last, |(_, typed)| typed);
        found.retain(|(candidate, _)| candidate.starts_with(typed));
        (found, directive)
    }

    /// The subcommands, and the values of the next positional argument.
    fn positionals(&self, last: &str) -> (Candidates, u8) {
        let commands = self.command.get_subcommands();
        let commands = commands.filter(|command| !command.is_hide_set());
        let found = commands
            .map(|command| (command.get_name().to_owned(), text(command.get_about())))
            .collect();
        let next = self.command.get_positionals().nth(self.positionals);
        let is_repeated = |arg: &&Arg| {
            arg.get_num_args().is_some_and(|many| many.max_values() > 1)
                || matches!(arg.get_action(), clap::ArgAction::Append)
        };
        let repeated = || self.command.get_positionals().last().filter(is_repeated);
        match next.or_else(repeated) {
            Some(arg) => {
                let (values, directive) = self.values(arg, last);
                ([found, values].concat(), directive)
            }
            None => (found, NO_FILE_COMPLETION),
        }
    }

    fn values(&self, arg: &Arg, last: &str) -> (Candidates, u8) {
        let names = match arg.get_id().as_str() {
            "workloads" => self.workloads(last),
            "kinds" => kinds(last, self.table),
            "namespace" | "namespaces" => self.namespaces().unwrap_or_default(),
            "context" => self.connection().contexts().unwrap_or_default(),
            "timezone" => self.tzdata.names().map(str::to_owned).collect(),
            "calendar" | "file" | "files" | "kubeconfig" | "schedules" => {
                return (Vec::new(), FILE_COMPLETION);
            }
            _ => {
                let values = arg.get_possible_values().into_iter();
                let shown = values.filter(|value| !value.is_hide_set());
                let named =
                    shown.map(|value| (value.get_name().to_owned(), text(value.get_help())));
                return (named.collect(), NO_FILE_COMPLETION);
            }
        };
        let plain = names.into_iter().map(|name| (name, String::new()));
        (plain.collect(), NO_FILE_COMPLETION)
    }

    /// The names of live workloads; empty if the cluster cannot be reached.
    fn workloads(&self, last: &str) -> Vec<String> {
        let typed = last.rfind('/').map_or("", |at| &last[..=at]);
        let names = match typed.strip_suffix('/') {
            None => self.live_names(Kind::DEFAULT_FOR_NAMES),
            Some("ns" | "namespace" | "namespaces") => self.namespaces(),
            Some(kind) => {
                let known = self.table.from_argument(kind);
                let kind = known.or_else(|| custom_kind(kind, self.table));
                kind.and_then(|kind| self.live_names(kind))
            }
        };
        let names = names.unwrap_or_default().into_iter();
        names.map(|name| format!("{typed}{name}")).collect()
    }

    fn live_names(&self, kind: Kind) -> Option<Vec<String>> {
        let (connection, namespaces) = (self.connection(), self.value("namespace"));
        in_time(async move || {
            let (client, _) = connect_silently(&connection).await.ok()?;
            let namespaces = namespaces.unwrap_or(client.default_namespace().to_owned());
            let namespaces: Vec<_> = namespaces.split(',').map(str::to_owned).collect();
            let query = Query::all(&[kind], &namespaces, None);
            let (found, _) = find::<Workload>(&client, &query).await.ok()?;
            let names = found.iter().map(|(_, workload)| workload.name().to_owned());
            Some(names.collect())
        })
    }

    fn namespaces(&self) -> Option<Vec<String>> {
        let connection = self.connection();
        in_time(async move || {
            let (client, _) = connect_silently(&connection).await.ok()?;
            namespace_names(&client).await.ok()
        })
    }

    fn connection(&self) -> Connection {
        Connection {
            kubeconfig: self.value("kubeconfig").map(PathBuf::from),
            context: self.value("context"),
            user: self.value("user"),
            groups: self.typed("groups").cloned().collect(),
            purpose: "completion",
            bounds_memory: false,
        }
    }

    /// The typed values of a flag.
    fn typed(&self, id: &str) -> impl DoubleEndedIterator<Item = &String> {
        let values = self.flags.iter().filter(move |(flag, _)| flag == id);
        values.map(|(_, value)| value)
    }

    /// The value of a flag, or else of its variable.
    fn value(&self, id: &str) -> Option<String> {
        let flag = self.flag(|flag| flag.get_id() == id)?;
        let variable = || flag.get_env().and_then(|name| env::var(name).ok());
        let typed = self.typed(id).next_back().cloned();
        typed.or_else(variable).filter(|text| !text.is_empty())
    }
}

/// Runs `work` on its own thread for at most [`REQUEST_TIMEOUT`].
fn in_time<T: Send + 'static, F: Future<Output = Option<T>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Option<T> {
    let (found, answer) = mpsc::channel();
    // A credential plugin can block its thread. The thread is abandoned and ends with the process.
    thread::spawn(move || {
        // After the timeout nothing receives the result.
        let _ = found.send(block_on(work()).ok().flatten());
    });
    answer.recv_timeout(REQUEST_TIMEOUT).ok().flatten()
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn text(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}

/// The typed list with each kind that it does not contain yet.
fn kinds(last: &str, table: &KindTable) -> Vec<String> {
    let typed = last.rfind(',').map_or("", |at| &last[..=at]);
    let kinds = Kind::BUILT_IN.iter().chain(table.operators());
    let others = kinds
        .map(Kind::argument)
        .filter(|kind| !typed.split(',').any(|known| known == *kind));
    others.map(|kind| format!("{typed}{kind}")).collect()
}

/// Print a script that lets a shell, or kubectl, complete commands, flags and workloads
#[derive(Debug, clap::Args)]
#[command(after_help = "\
bash:     source <(dayshift completions bash)
zsh:      source <(dayshift completions zsh)
fish:     dayshift completions fish | source
kubectl:  dayshift completions kubectl > ~/bin/kubectl_complete-dayshift

For kubectl (1.26 or later) the file must be executable and in a directory of PATH; kubectl's own \
completion then calls it.")]
pub(crate) struct CompletionsArgs {
    /// The shell, or kubectl
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Kubectl,
}

impl CompletionsArgs {
    pub(crate) fn run(self) -> Exit {
        let script = match self.shell {
            Shell::Bash => include_str!("completions/dayshift.bash"),
            Shell::Zsh => include_str!("completions/dayshift.zsh"),
            Shell::Fish => include_str!("completions/dayshift.fish"),
            Shell::Kubectl => include_str!("completions/kubectl_complete-dayshift"),
        };
        // Errors are ignored, because there is no reader.
        let _ = io::stdout().write_all(script.as_bytes());
        Exit::Done
    }
}
