//! What somebody may have done from a page: wake, sleep, pause and resume, with their own rights.
//!
//! A form is posted, a page says exactly what will change, that is posted, and a page says what came
//! of it, as the commands do. Nothing is changed by what is only read.

mod carry_out;
mod form;
mod gate;
mod jobs;
mod pending;
mod plan;
mod posted;
mod worker;

pub(super) use carry_out::verb;
pub(super) use form::{Fields, Form};
pub(super) use pending::Actions;
pub(super) use plan::{Phase, Plan, Progress};
