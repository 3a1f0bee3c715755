//! The flags of GoKubeDownscaler and py-kube-downscaler, as they are given to them.

use dayshift_manifest::convert::SpanDefaults;
use dayshift_schedule::Zone;

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Flags and variables of GoKubeDownscaler and py-kube-downscaler, for every Namespace"
)]
pub(crate) struct DownscalerArgs {
    /// Their --default-uptime or DEFAULT_UPTIME
    #[arg(long, value_name = "SPANS")]
    default_uptime: Option<String>,

    /// Their --default-downtime or DEFAULT_DOWNTIME
    #[arg(long, value_name = "SPANS")]
    default_downtime: Option<String>,

    /// Their --upscale-period or UPSCALE_PERIOD
    #[arg(long, value_name = "SPANS")]
    upscale_period: Option<String>,

    /// Their --downscale-period or DOWNSCALE_PERIOD
    #[arg(long, value_name = "SPANS")]
    downscale_period: Option<String>,

    /// Their --downtime-replicas
    #[arg(long, value_name = "N")]
    downtime_replicas: Option<String>,

    /// Their --grace-period or GRACE_PERIOD: seconds, or for example 15m; it becomes dayshift/enforce
    #[arg(long, value_name = "TIME")]
    grace_period: Option<String>,

    /// The zone of time spans without one: DEFAULT_TIMEZONE, or the clock of a
    /// CronHorizontalPodAutoscaler's controller
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    default_timezone: Option<Zone>,

    /// The days of time spans without any: DEFAULT_WEEKFRAME, such as Mon-Fri
    #[arg(long, value_name = "DAYS", value_parser = week_frame)]
    default_weekframe: Option<(u32, u32)>,
}

fn week_frame(text: &str) -> Result<(u32, u32), String> {
    SpanDefaults::week_frame(text).ok_or_else(|| "write days such as Mon-Fri".to_owned())
}

impl DownscalerArgs {
    pub(crate) fn defaults(&self) -> SpanDefaults {
        SpanDefaults {
            zone: self.default_timezone,
            days: self.default_weekframe,
        }
    }

    /// Those that are given, as the annotations that say the same.
    pub(crate) fn annotations(&self) -> Vec<(String, String)> {
        let all = [
            ("uptime", &self.default_uptime),
            ("downtime", &self.default_downtime),
            ("upscale-period", &self.upscale_period),
            ("downscale-period", &self.downscale_period),
            ("downtime-replicas", &self.downtime_replicas),
            ("grace-period", &self.grace_period),
        ];
        let given = all
            .into_iter()
            .filter_map(|(key, text)| Some((key, text.clone()?)));
        given.map(|(key, text)| (key.to_owned(), text)).collect()
    }
}
