//! The variable of each flag.

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command, parser::ValueSource};

use crate::cli::args::target_names::name_a_namespace;

/// The flags that name the cluster, and those that say how annotations are read and what is paid:
/// they mean the same to every subcommand, so one variable counts in all of them.
const EVERYWHERE: [&str; 10] = [
    "annotation-prefix",
    "as",
    "as-group",
    "calendar",
    "context",
    "kinds",
    "kubeconfig",
    "price",
    "timezone",
    "zoneinfo",
];

/// A flag or an argument, and the flags whose variables it overrules, because the two could not
/// stand together on a command line.
const OVERRULED: [(&str, &[&str]); 13] = [
    ("workloads", &["selector", "all", "all-namespaces", "file"]),
    ("selector", &["all", "file"]),
    ("namespace", &["all-namespaces"]),
    ("all-namespaces", &["namespace", "file"]),
    ("file", &["selector", "all-namespaces"]),
    ("files", &["selector", "all-namespaces"]),
    ("check", &["in-place"]),
    ("in-place", &["check"]),
    ("default-hours", &["default-start", "default-stop"]),
    ("default-start", &["default-hours"]),
    ("default-stop", &["default-hours"]),
    ("until", &["days", "for"]),
    ("for", &["until"]),
];

/// The name of the variable of `--flag`: that of `run` is `DAYSHIFT_FLAG`, and of another
/// subcommand `DAYSHIFT_SUBCOMMAND_FLAG`, so that one for one of them breaks no other.
pub(super) fn variable(subcommand: &str, flag: &str) -> String {
    let of_subcommand = if subcommand == "run" || EVERYWHERE.contains(&flag) {
        String::new()
    } else {
        format!("{subcommand}_")
    };
    let name = format!("dayshift_{of_subcommand}{flag}");
    name.replace('-', "_").to_uppercase()
}

/// Gives each flag its variable, except where a flag of these arguments overrules it.
pub(super) fn with_variables(command: Command, arguments: &[OsString]) -> Command {
    let overruled = overruled(&command, arguments);
    command.mut_subcommands(|subcommand| {
        let of = subcommand.get_name().to_owned();
        subcommand.mut_args(|flag| {
            let Some(long) = flag.get_long().filter(|long| has_variable(long)) else {
                return flag;
            };
            if overruled.contains(&long) {
                return flag;
            }
            // Clap wants names that live as long as the program, and they do.
            let name: &'static str = Box::leak(variable(&of, long).into_boxed_str());
            // They follow from the names of the flags, and would drown the help.
            flag.env(name).hide_env(true)
        })
    })
}

fn has_variable(long: &str) -> bool {
    !matches!(long, "help" | "version")
}

fn overruled(command: &Command, arguments: &[OsString]) -> Vec<&'static str> {
    let mut command = command.clone().ignore_errors(true);
    let Ok(matches) = command.try_get_matches_from_mut(arguments) else {
        return Vec::new();
    };
    let Some((name, given)) = matches.subcommand() else {
        return Vec::new();
    };
    let words = given.try_get_many("workloads").ok().flatten();
    let words: Vec<String> = words.into_iter().flatten().cloned().collect();
    let flags = command.find_subcommand(name);
    let flags = flags.into_iter().flat_map(Command::get_arguments);
    let given = flags.filter(|flag| is_given(given, flag));
    let given: Vec<_> = given
        .map(|flag| flag.get_long().unwrap_or(flag.get_id().as_str()))
        .collect();
    let overruled = OVERRULED.iter().filter(|(flag, _)| given.contains(flag));
    let overruled = overruled.flat_map(|(_, others)| *others).copied();
    let namespace = name_a_namespace(&words).then_some("namespace");
    overruled.chain(namespace).collect()
}

fn is_given(matches: &ArgMatches, flag: &Arg) -> bool {
    let source = matches.value_source(flag.get_id().as_str());
    source == Some(ValueSource::CommandLine)
}

/// These arguments with the subcommand before the flags: people write `dayshift -n dev status`,
/// as in kubectl.
pub(super) fn subcommand_first(command: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let takes_value = |flag: &str| {
        let all = command.get_subcommands().flat_map(Command::get_arguments);
        let mut named = all.filter(|it| {
            let long = it.get_long().map(|long| format!("--{long}"));
            let short = it.get_short().map(|short| format!("-{short}"));
            [long, short].iter().flatten().any(|name| name == flag)
        });
        named.any(|it| it.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(argument) = arguments.get(at).and_then(|it| it.to_str()) {
        if !argument.starts_with('-') {
            break;
        }
        // It is asked of the program, whatever follows.
        if matches!(argument, "-V" | "--version") {
            return arguments;
        }
        at += if takes_value(argument) { 2 } else { 1 };
    }
    let is_subcommand = |name: &OsString| {
        let mut all = command.get_subcommands();
        all.any(|it| name.to_str() == Some(it.get_name()))
    };
    if at < 2 || !arguments.get(at).is_some_and(is_subcommand) {
        return arguments;
    }
    let mut arguments = arguments;
    arguments[1..=at].rotate_right(1);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        let value = |name: &'static str, short| Arg::new(name).long(name).short(short);
        let names = Arg::new("workloads").num_args(0..);
        let of = |name: &'static str| {
            let flag = value("all-namespaces", 'A').action(clap::ArgAction::SetTrue);
            let all = [
                value("namespace", 'n'),
                value("selector", 'l'),
                flag,
                names.clone(),
            ];
            Command::new(name).args(all)
        };
        Command::new("dayshift").subcommands([of("run"), of("status")])
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn flags_may_stand_before_the_subcommand() {
        for (line, expected) in [
            ("dayshift status -n dev", "dayshift status -n dev"),
            ("dayshift -n dev status", "dayshift status -n dev"),
            ("dayshift -n run status", "dayshift status -n run"),
            (
                "dayshift --namespace=run -A status web",
                "dayshift status --namespace=run -A web",
            ),
            ("dayshift -n status", "dayshift -n status"),
            ("dayshift -n dev nope", "dayshift -n dev nope"),
            ("dayshift --help", "dayshift --help"),
            ("dayshift --version status", "dayshift --version status"),
            ("dayshift -V status", "dayshift -V status"),
            ("dayshift", "dayshift"),
        ] {
            assert_eq!(
                subcommand_first(&command(), words(line)),
                words(expected),
                "{line}"
            );
        }
    }

    #[test]
    fn a_flag_overrules_the_variable_of_one_that_excludes_it() {
        for (line, expected) in [
            ("dayshift status", &[][..]),
            (
                "dayshift status web",
                &["selector", "all", "all-namespaces", "file"],
            ),
            (
                "dayshift status ns/team",
                &["selector", "all", "all-namespaces", "file", "namespace"],
            ),
            ("dayshift status -n dev", &["all-namespaces"]),
        ] {
            assert_eq!(overruled(&command(), &words(line)), expected, "{line}");
        }
    }
}
