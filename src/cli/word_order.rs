//! The order of the words of a command line.

use std::ffi::OsString;

use clap::Command;

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
    use clap::Arg;

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
}
