//! The variables of flags: those of `run`, and in every command those that say which cluster, and how
//! annotations are read.

use std::ffi::OsString;

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue},
    parser::ValueSource,
};

const EVERYWHERE: [&str; 7] = [
    "annotation-prefix",
    "as",
    "as-group",
    "context",
    "kubeconfig",
    "timezone",
    "zoneinfo",
];

/// A flag of `run`, and those whose variables it overrules, because the two exclude each other.
const OVERRULED: [(&str, &[&str]); 7] = [
    ("namespace", &["all-namespaces"]),
    ("all_namespaces", &["namespace"]),
    ("default_hours", &["default-start", "default-stop"]),
    ("default_start", &["default-hours"]),
    ("default_stop", &["default-hours"]),
    ("metrics_by", &["per-namespace-metrics"]),
    ("per_namespace_metrics", &["metrics-by"]),
];

/// Gives each of these flags its variable: that of `--flag` is `DAYSHIFT_FLAG`.
pub(super) fn with_variables(command: Command, arguments: &[OsString]) -> Command {
    let overruled = overruled(&command, arguments);
    command.mut_subcommands(|subcommand| {
        let is_run = subcommand.get_name() == "run";
        subcommand.mut_args(|flag| {
            let has_variable =
                |long: &&str| (is_run || EVERYWHERE.contains(long)) && !overruled.contains(long);
            let Some(long) = flag.get_long().filter(has_variable) else {
                return flag;
            };
            let name = format!("DAYSHIFT_{}", long.replace('-', "_").to_uppercase());
            // Clap wants names that live as long as the program, and they do.
            let name: &'static str = Box::leak(name.into_boxed_str());
            // They follow from the names of the flags, and would drown the help.
            flag.env(name).hide_env(true)
        })
    })
}

fn overruled(command: &Command, arguments: &[OsString]) -> Vec<&'static str> {
    let command = command.clone().ignore_errors(true);
    let matches = command.try_get_matches_from(arguments);
    let Some(("run", given)) = matches.as_ref().ok().and_then(|it| it.subcommand()) else {
        return Vec::new();
    };
    let is_given = |flag: &str| given.value_source(flag) == Some(ValueSource::CommandLine);
    let overruled = OVERRULED.iter().filter(|(flag, _)| is_given(flag));
    overruled.flat_map(|(_, others)| *others).copied().collect()
}

/// The same error, with the name of the variable in place of the flag's where the flag is not given.
pub(super) fn naming_the_variable(
    mut error: Error,
    command: &Command,
    arguments: &[OsString],
) -> Error {
    let flag_of = |error: &Error| match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => Some(flag.clone()),
        _ => None,
    };
    let Some(flag) = flag_of(&error) else {
        return error;
    };
    let without = command
        .clone()
        .mut_subcommands(|subcommand| subcommand.mut_args(|flag| flag.env(None)));
    let typed = without.try_get_matches_from(arguments).err();
    if typed.as_ref().and_then(flag_of).as_ref() == Some(&flag) {
        return error;
    }
    // `--timezone <ZONE>`, and clap shows a flag in this way of a command alone that it has built.
    let long = flag.split_whitespace().next();
    let long = long.and_then(|it| it.strip_prefix("--"));
    let mut flags = command.get_subcommands().flat_map(Command::get_arguments);
    let variable = flags.find_map(|it| it.get_env().filter(|_| it.get_long() == long));
    if let Some(variable) = variable {
        let variable = ContextValue::String(variable.to_string_lossy().into_owned());
        error.insert(ContextKind::InvalidArg, variable);
    }
    error
}
