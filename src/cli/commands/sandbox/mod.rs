//! `dayshift sandbox`: the scaler on a cluster in memory.

#[cfg(feature = "sandbox")]
mod command;
#[cfg(feature = "sandbox")]
mod error;
#[cfg(feature = "sandbox")]
mod input;
#[cfg(not(feature = "sandbox"))]
mod left_out;
#[cfg(feature = "sandbox")]
mod pages;
#[cfg(feature = "sandbox")]
mod requests;

#[cfg(feature = "sandbox")]
pub(crate) use command::SandboxArgs;
#[cfg(not(feature = "sandbox"))]
pub(crate) use left_out::SandboxArgs;
