//! Savings: the counters and `plan`, compared with an oracle, and all outputs that show savings.

pub(crate) mod by_status;
mod one_account;
mod oracle;
mod planned;
mod savings;
