//! `dayshift kinds`: the kinds that can be scheduled, and the permissions that the cluster grants for each.

use dayshift_cluster::read::{kind_access, lacking_for_jobs};

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::{KindArgs, KindFiles},
        values::one_namespace,
    },
    outcome::{CommandError, print_result},
    output::{
        documents::{ApiVersion, KindEntry, KindsDocument, write_document},
        kinds::{JobPermissions, write_kinds_table, write_roles},
    },
    process::Exit,
};

/// List the kinds that dayshift knows, and those that this cluster has and allows
///
/// If the cluster cannot be reached, the kinds are listed anyway. With -o yaml, the command prints
/// the ClusterRole and the binding that dayshift needs for the kinds in --kinds, without a request
/// to the cluster. With --stop-jobs, the last line is for Jobs, which are not in --kinds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The table shows your permissions; for those of dayshift, add \
--as=system:serviceaccount:dayshift:dayshift.
Exit status: 0 done, 2 wrong usage, 3 no cluster.")]
pub(crate) struct KindsArgs {
    #[command(flatten)]
    kinds: KindArgs,

    /// Also name Jobs, which dayshift suspends for CronJobs with the annotation dayshift/stop-jobs
    #[arg(long, help_heading = "Which workloads")]
    stop_jobs: bool,

    /// Check the permissions in this namespace [default: in all]
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
    output: KindsFormat,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindsFormat {
    /// Columns
    Table,
    /// For other programs
    Json,
    /// The ClusterRole for the kinds of --kinds
    Yaml,
}

impl KindsArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let named = self.kinds.kinds(kind_files);
        if let KindsFormat::Yaml = self.output {
            let jobs = match self.stop_jobs {
                true => JobPermissions::Included,
                false => JobPermissions::Omitted,
            };
            print_result(|out, _| write_roles(out, &named, jobs))?;
            return Ok(Exit::Done);
        }
        let kinds = kind_files.table.known();
        let namespace = self.namespace.clone();
        let asked = self.connection.on_cluster("kinds", async |client| {
            let namespace = namespace.as_deref();
            let access = kind_access(&client, &kinds, namespace).await?;
            Ok((access, lacking_for_jobs(&client, namespace).await?))
        });
        let (exit, (access, jobs)) = match asked {
            Ok(access) => (Exit::Done, access),
            Err(error) => (error.report(), Default::default()),
        };
        let entries = kinds.iter().map(|kind| {
            let access = access.iter().find(|access| access.kind == *kind);
            KindEntry::for_kind(kind, access, named.contains(kind))
        });
        let jobs = KindEntry::for_jobs(jobs.as_deref(), self.stop_jobs);
        let kinds: Vec<_> = entries.chain([jobs]).collect();
        print_result(|out, style| match self.output {
            KindsFormat::Json => {
                let api_version = ApiVersion::V1;
                write_document(out, &KindsDocument { api_version, kinds })
            }
            _ => write_kinds_table(out, &kinds, style),
        })?;
        Ok(exit)
    }
}
