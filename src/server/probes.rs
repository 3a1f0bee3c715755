//! What a component says of itself.

use std::fmt::Write as _;

use tokio::time::Instant;

/// A component with probes and metrics.
pub trait Probes: Send + Sync + 'static {
    /// Why it hangs and is to be restarted, if it does.
    ///
    /// # Errors
    /// The reason, as a line.
    fn alive(&self) -> Result<(), String>;

    /// Whether it does its work: what to say, in lines, either way.
    ///
    /// # Errors
    /// The lines where it does not.
    fn ready(&self) -> Result<String, String>;

    /// Its metrics as OpenMetrics 1.0.
    fn metrics(&self) -> String;
}

/// A controller that has not acted for a minute hangs. What is not watched stands in the text,
/// whether that is a reason not to be ready or not.
impl Probes for dayshift_controller::Telemetry {
    fn alive(&self) -> Result<(), String> {
        match self.is_alive(Instant::now()) {
            true => Ok(()),
            false => Err("the controller has not acted for a minute\n".to_owned()),
        }
    }

    fn ready(&self) -> Result<String, String> {
        let ready = Self::ready(self);
        let mut text = match &ready {
            Ok(()) => "ok\n".to_owned(),
            Err(reasons) => format!("not ready: {}\n", reasons.join("; ")),
        };
        for line in self.unwatched() {
            // Writing to a String does not fail.
            let _ = writeln!(text, "{line}");
        }
        match ready {
            Ok(()) => Ok(text),
            Err(_) => Err(text),
        }
    }

    fn metrics(&self) -> String {
        self.render()
    }
}

impl Probes for dayshift_activator::Telemetry {
    fn alive(&self) -> Result<(), String> {
        Ok(())
    }

    fn ready(&self) -> Result<String, String> {
        match self.is_ready() {
            true => Ok("ok\n".to_owned()),
            false => Err("not ready: it has not seen everything, or is shutting down\n".to_owned()),
        }
    }

    fn metrics(&self) -> String {
        self.render()
    }
}
