//! `dayshift completions`: the scripts that let a shell, or kubectl, complete.

use std::io::{self, Write as _};

use crate::cli::exit::Exit;

/// Print a script that lets a shell, or kubectl, complete commands, flags and workloads
#[derive(Debug, clap::Args)]
#[command(after_help = "\
bash:     source <(dayshift completions bash)
zsh:      source <(dayshift completions zsh)
fish:     dayshift completions fish | source
kubectl:  dayshift completions kubectl > ~/bin/kubectl_complete-dayshift

For kubectl (1.26 or later) the file has to be executable and in a folder of PATH; kubectl's own \
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
        // Where nobody reads, nobody misses it.
        let _ = io::stdout().write_all(script.as_bytes());
        Exit::Done
    }
}
