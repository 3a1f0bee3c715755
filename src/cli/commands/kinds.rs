//! The command `dayshift kinds`: what can be scheduled, and what this cluster has and allows of it.

use std::io::{self, BufWriter, Write};

use clap::builder::BoolishValueParser;
use dayshift_cluster::read::{kind_access, lacking_for_jobs};
use dayshift_workload::Kind;

use crate::cli::{
    args::{connection::ConnectionArgs, kind_args::KindArgs, values::value_parsers::one_namespace},
    exit::Exit,
    output::{
        kinds_table::{KindRow, write_json, write_roles, write_table},
        messages::print_error,
        terminal,
    },
};

/// List the kinds that dayshift knows, and what this cluster has and allows of each
///
/// Where the cluster cannot be reached, the kinds are listed all the same. With -o yaml, print the
/// ClusterRole that dayshift needs for the kinds of --kinds, and its binding; no cluster is asked. The
/// last line is for Jobs, which --stop-jobs adds and --kinds does not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The table shows what you may do; for dayshift itself, add \
--as=system:serviceaccount:dayshift:dayshift.
Exit status: 0 done, 2 wrong usage, 3 no cluster.")]
pub(crate) struct KindsArgs {
    #[command(flatten)]
    kinds: KindArgs,

    /// Also name Jobs, which dayshift suspends for CronJobs with the annotation dayshift/stop-jobs
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = "Which workloads")]
    stop_jobs: bool,

    /// The namespace in which it has to be allowed [default: in all]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_parser = one_namespace,
        help_heading = "Which workloads"
    )]
    namespace: Option<String>,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Output,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Output {
    /// Columns
    Table,
    /// For other programs
    Json,
    /// The ClusterRole for the kinds of --kinds
    Yaml,
}

impl KindsArgs {
    pub(crate) fn run(self) -> Exit {
        let named = self.kinds.kinds();
        if let Output::Yaml = self.output {
            return shown(Exit::Done, |out| write_roles(out, &named, self.stop_jobs));
        }
        let kinds: Vec<Kind> = Kind::known().collect();
        let namespace = self.namespace.clone();
        let asked = self.connection.on_cluster("kinds", async |client| {
            let namespace = namespace.as_deref();
            let access = kind_access(&client, &kinds, namespace).await?;
            Ok((access, lacking_for_jobs(&client, namespace).await?))
        });
        let (exit, (access, of_jobs)) = match asked {
            Ok(access) => (Exit::Done, access),
            Err(error) => (error.report(), Default::default()),
        };
        let rows = kinds.iter().map(|kind| {
            let access = access.iter().find(|it| it.kind == *kind);
            KindRow::of_kind(*kind, named.contains(kind), access)
        });
        let of_jobs = KindRow::of_jobs(self.stop_jobs, of_jobs.as_deref());
        let rows: Vec<_> = rows.chain([of_jobs]).collect();
        shown(exit, |out| match self.output {
            Output::Json => write_json(out, &rows),
            _ => write_table(out, &rows, terminal::style(&io::stdout())),
        })
    }
}

/// Writes the result, and how the command ends.
fn shown(
    exit: Exit,
    write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Exit {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        // Who reads only the beginning has what they want.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            print_error(&format!("cannot write the kinds: {error}"));
            Exit::CouldNotRun
        }
        _ => exit,
    }
}
