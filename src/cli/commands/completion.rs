//! Shell completion: `dayshift completions` prints the scripts, and `dayshift __complete WORD…` answers
//! them.
//!
//! The answer has the format of cobra, which kubectl expects from its plugins: one candidate per line, a tab
//! before its description, and a last line with a directive.

use std::{
    collections::BTreeMap,
    env,
    io::{self, Write as _},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};

use clap::{Arg, Command};
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
    flags: BTreeMap<String, String>,
    /// The values of `--as-group`, which can be repeated.
    groups: Vec<String>,
    positionals: usize,
    /// The flag that expects a value next.
    pending: Option<&'a Arg>,
    only_positionals: bool,
}

/// The candidates for the last word, in cobra's format.
pub(crate) fn complete(
    mut root: Command,
    words: &[String],
    tzdata: &Tzdata,
    table: &KindTable,
) -> String {
    root.build();
    let (last, before) = words
        .split_last()
        .map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let typed = TypedWords::read(&root, before, tzdata, table);
    let (candidates, directive) = typed.candidates(last);
    let mut lines = String::new();
    for (candidate, help) in candidates {
        let help = help.lines().next().unwrap_or_default();
        let tab = if help.is_empty() { "" } else { "\t" };
        lines += &format!("{}{tab}{}\n", printable(&candidate), printable(help));
    }
    lines + &format!(":{directive}\n")
}

type Candidates = Vec<(String, String)>;

impl<'a> TypedWords<'a> {
    fn read(root: &'a Command, words: &[String], tzdata: &'a Tzdata, table: &'a KindTable) -> Self {
        let mut typed = Self {
            command: root,
            tzdata,
            table,
            flags: BTreeMap::new(),
            groups: Vec::new(),
            positionals: 0,
            pending: None,
            only_positionals: false,
        };
        for word in words {
            typed.take(word);
        }
        typed
    }

    fn take(&mut self, word: &str) {
        if let Some(flag) = self.pending.take() {
            self.set(flag, word);
        } else if self.only_positionals || word == "-" || !word.starts_with('-') {
            match self.command.find_subcommand(word) {
                Some(command) if !self.only_positionals => self.command = command,
                _ => self.positionals += 1,
            }
        } else if word == "--" {
            self.only_positionals = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(name, value)| (name, Some(value)));
            let flag = self
                .command
                .get_arguments()
                .find(|flag| flag.get_long() == Some(name));
            self.flag(flag, value);
        } else {
            for (at, short) in word.char_indices().skip(1) {
                let flag = self
                    .command
                    .get_arguments()
                    .find(|flag| flag.get_short() == Some(short));
                if flag.is_some_and(takes_value) {
                    let value = &word[at + short.len_utf8()..];
                    let value = value.strip_prefix('=').unwrap_or(value);
                    self.flag(flag, Some(value).filter(|value| !value.is_empty()));
                    break;
                }
            }
        }
    }

    fn set(&mut self, flag: &Arg, value: &str) {
        if flag.get_id() == "groups" {
            self.groups.push(value.to_owned());
        }
        self.flags
            .insert(flag.get_id().to_string(), value.to_owned());
    }

    fn flag(&mut self, flag: Option<&'a Arg>, value: Option<&str>) {
        match (flag.filter(|flag| takes_value(flag)), value) {
            (Some(flag), Some(value)) => {
                self.set(flag, value);
            }
            (flag, _) => self.pending = flag,
        }
    }

    fn candidates(&self, last: &str) -> (Candidates, u8) {
        if let Some(flag) = self.pending {
            return self.values(flag, last);
        }
        if last.starts_with('-') && !self.only_positionals {
            if let Some((name, value)) = last
                .strip_prefix("--")
                .and_then(|text| text.split_once('='))
            {
                let flag = self
                    .command
                    .get_arguments()
                    .find(|flag| flag.get_long() == Some(name));
                return flag.map_or((Vec::new(), NO_FILE_COMPLETION), |flag| {
                    self.values(flag, value)
                });
            }
            let flags = self
                .command
                .get_arguments()
                .filter(|flag| !flag.is_hide_set());
            let flags =
                flags.filter_map(|flag| Some((format!("--{}", flag.get_long()?), help(flag))));
            return (beginning(last, flags), NO_FILE_COMPLETION);
        }
        let commands = self
            .command
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let commands = commands.map(|command| {
            let about = command.get_about().map(ToString::to_string);
            (command.get_name().to_owned(), about.unwrap_or_default())
        });
        let mut found = beginning(last, commands);
        let mut directive = NO_FILE_COMPLETION;
        let mut positionals = self.command.get_positionals();
        let arg = positionals.nth(self.positionals);
        let repeated = || {
            self.command.get_positionals().last().filter(|arg| {
                arg.get_num_args().is_some_and(|many| many.max_values() > 1)
                    || matches!(arg.get_action(), clap::ArgAction::Append)
            })
        };
        if let Some(arg) = arg.or_else(repeated) {
            let (values, allowed) = self.values(arg, last);
            found.extend(values);
            directive = allowed;
        }
        (found, directive)
    }

    fn values(&self, arg: &Arg, last: &str) -> (Candidates, u8) {
        let named = arg.get_possible_values();
        let named = named
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| {
                let help = value.get_help().map(ToString::to_string);
                (value.get_name().to_owned(), help.unwrap_or_default())
            });
        let found = match arg.get_id().as_str() {
            "workloads" => self.workloads(last),
            "kinds" => kinds(last, self.table),
            "namespace" | "namespaces" => plain(last, self.namespaces()),
            "context" => plain(last, self.connection().contexts().ok()),
            "timezone" => {
                let zones = self.tzdata.names();
                beginning(last, zones.map(|zone| (zone.to_owned(), String::new())))
            }
            "calendar" | "file" | "files" | "kubeconfig" | "schedules" => {
                return (Vec::new(), FILE_COMPLETION);
            }
            _ => beginning(last, named),
        };
        (found, NO_FILE_COMPLETION)
    }

    /// The names of live workloads; empty if the cluster cannot be reached.
    fn workloads(&self, last: &str) -> Candidates {
        let typed = last.rfind('/').map_or("", |at| &last[..=at]);
        if ["ns/", "namespace/", "namespaces/"].contains(&typed) {
            let names = self.namespaces().unwrap_or_default().into_iter();
            return beginning(
                last,
                names.map(|name| (format!("{typed}{name}"), String::new())),
            );
        }
        let kind = match typed.strip_suffix('/') {
            None => Kind::DEFAULT_FOR_NAMES,
            Some(kind) => match self
                .table
                .from_argument(kind)
                .or_else(|| custom_kind(kind, self.table))
            {
                None => return Candidates::default(),
                Some(kind) => kind,
            },
        };
        let names = self.live_names(kind).unwrap_or_default();
        beginning(
            last,
            names
                .into_iter()
                .map(|name| (format!("{typed}{name}"), String::new())),
        )
    }

    fn live_names(&self, kind: Kind) -> Option<Vec<String>> {
        let (connection, namespace) = (self.connection(), self.value("namespace"));
        in_time(async move || live_names(&connection, &kind, namespace).await)
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
            groups: self.groups.clone(),
            purpose: "completion",
        }
    }

    /// The value of a flag, or else of its variable.
    fn value(&self, id: &str) -> Option<String> {
        let arg = self
            .command
            .get_arguments()
            .find(|arg| arg.get_id() == id)?;
        let variable = || arg.get_env().and_then(|name| env::var(name).ok());
        self.flags
            .get(id)
            .cloned()
            .or_else(variable)
            .filter(|text| !text.is_empty())
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

async fn live_names(
    connection: &Connection,
    kind: &Kind,
    namespaces: Option<String>,
) -> Option<Vec<String>> {
    let (client, _) = connect_silently(connection).await.ok()?;
    let namespaces = namespaces.unwrap_or(client.default_namespace().to_owned());
    let namespaces: Vec<_> = namespaces.split(',').map(str::to_owned).collect();
    let query = Query::all(std::slice::from_ref(kind), &namespaces, None);
    let (found, _) = find::<Workload>(&client, &query).await.ok()?;
    let names = found.iter().map(|(_, workload)| workload.name().to_owned());
    Some(names.collect())
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// Candidates without a description.
fn plain(last: &str, names: Option<Vec<String>>) -> Candidates {
    let names = names.unwrap_or_default().into_iter();
    beginning(last, names.map(|name| (name, String::new())))
}

/// The kinds that the typed list does not contain yet.
fn kinds(last: &str, table: &KindTable) -> Candidates {
    let typed = last.rfind(',').map_or("", |at| &last[..=at]);
    let kinds = Kind::BUILT_IN
        .into_iter()
        .chain(table.operators().iter().cloned());
    let mut others = kinds
        .map(|kind| kind.argument().to_owned())
        .collect::<Vec<_>>();
    others.retain(|kind| !typed.split(',').any(|known| known == kind));
    let lists = others
        .into_iter()
        .map(|kind| (format!("{typed}{kind}"), String::new()));
    beginning(last, lists)
}

fn beginning(last: &str, all: impl Iterator<Item = (String, String)>) -> Candidates {
    all.filter(|(candidate, _)| candidate.starts_with(last))
        .collect()
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
