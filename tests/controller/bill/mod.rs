//! Savings: the counters, counters and `plan` against an oracle, and everything that shows savings.

pub(crate) mod by_status;
mod one_account;
mod oracle;
mod planned;
mod savings;
