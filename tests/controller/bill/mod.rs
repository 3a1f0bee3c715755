//! What is saved: the counters, them and `plan` beside an oracle, and all who show it beside each other.

pub(crate) mod by_status;
mod one_account;
mod oracle;
mod planned;
mod savings;
