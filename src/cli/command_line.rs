//! Parts of the command line that clap does not handle: flags before the subcommand, flags whose values
//! decide how others are parsed, and the variables `DAYSHIFT_…` of flags.

use std::ffi::OsString;

use clap::{
    ArgAction, Command, Error,
    builder::BoolishValueParser,
    error::{ContextKind, ContextValue},
    parser::ValueSource,
};

/// Moves the subcommand before the flags, because users write `dayshift -n dev status` as in
/// kubectl.
pub(super) fn subcommand_first(command: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let takes_value = |flag: &str| {
        let all = command.get_subcommands().flat_map(Command::get_arguments);
        let mut named = all.filter(|arg| {
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            [long, short].iter().flatten().any(|name| name == flag)
        });
        named.any(|arg| arg.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(argument) = arguments.get(at).and_then(|text| text.to_str()) {
        if !argument.starts_with('-') {
            break;
        }
        // `--version` applies to the program.
        if matches!(argument, "-V" | "--version") {
            return arguments;
        }
        at += if takes_value(argument) { 2 } else { 1 };
    }
    let is_subcommand = |name: &OsString| {
        let mut all = command.get_subcommands();
        all.any(|subcommand| name.to_str() == Some(subcommand.get_name()))
    };
    if at < 2 || !arguments.get(at).is_some_and(is_subcommand) {
        return arguments;
    }
    let mut arguments = arguments;
    arguments[1..=at].rotate_right(1);
    arguments
}

/// The values of a flag, such as `--kind-file`, before the arguments are parsed.
pub(super) fn values_of(flag: &str, arguments: &[OsString]) -> Vec<OsString> {
    let mut values = Vec::new();
    let mut words = arguments.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let rest = word.to_str().and_then(|word| word.strip_prefix(flag));
        match rest {
            Some("") => values.extend(words.next().cloned()),
            Some(rest) => values.extend(rest.strip_prefix('=').map(OsString::from)),
            None => {}
        }
    }
    values
}

const EVERYWHERE: [&str; 7] = [
    "annotation-prefix",
    "as",
    "as-group",
    "context",
    "kubeconfig",
    "timezone",
    "zoneinfo",
];

/// A flag of `run`, and the flags whose variables it overrules because they exclude each other.
const OVERRULED: [(&str, &[&str]); 7] = [
    ("namespace", &["all-namespaces"]),
    ("all_namespaces", &["namespace"]),
    ("default_hours", &["default-start", "default-stop"]),
    ("default_start", &["default-hours"]),
    ("default_stop", &["default-hours"]),
    ("metrics_by", &["per-namespace-metrics"]),
    ("per_namespace_metrics", &["metrics-by"]),
];

/// Sets the variable of each flag: `DAYSHIFT_FLAG` for `--flag`.
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
            // The names follow from the flags, so listing them would only lengthen the help.
            let flag = flag.env(name).hide_env(true);
            match flag.get_action() {
                // A variable can contain `yes` or `1` too.
                ArgAction::SetTrue => flag.value_parser(BoolishValueParser::new()),
                _ => flag,
            }
        })
    })
}

fn overruled(command: &Command, arguments: &[OsString]) -> Vec<&'static str> {
    let command = command.clone().ignore_errors(true);
    let matches = command.try_get_matches_from(arguments);
    let Some(("run", given)) = matches
        .as_ref()
        .ok()
        .and_then(|matches| matches.subcommand())
    else {
        return Vec::new();
    };
    let is_given = |flag: &str| given.value_source(flag) == Some(ValueSource::CommandLine);
    let overruled = OVERRULED.iter().filter(|(flag, _)| is_given(flag));
    overruled.flat_map(|(_, others)| *others).copied().collect()
}

/// Replaces the flag in an error by its variable if the value comes from the variable.
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
    // clap formats an unbuilt flag as `--timezone <ZONE>`.
    let long = flag.split_whitespace().next();
    let long = long.and_then(|text| text.strip_prefix("--"));
    let mut flags = command.get_subcommands().flat_map(Command::get_arguments);
    let variable = flags.find_map(|flag| flag.get_env().filter(|_| flag.get_long() == long));
    if let Some(variable) = variable {
        let variable = ContextValue::String(variable.to_string_lossy().into_owned());
        error.insert(ContextKind::InvalidArg, variable);
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn command() -> Command {
        let value = |name: &'static str, short| Arg::new(name).long(name).short(short);
        let names = Arg::new("workloads").num_args(0..);
        let of = |name: &'static str| {
            let flag = value("all-namespaces", 'A').action(ArgAction::SetTrue);
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
    fn moves_flags_behind_the_subcommand() {
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
}
