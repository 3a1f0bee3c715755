//! What is saved: the counters, and them and `plan` beside an oracle.

mod oracle;
mod savings;
