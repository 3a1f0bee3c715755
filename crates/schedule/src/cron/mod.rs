//! Cron: its fields, its text, and when it happens.

pub(super) mod expression;
pub(super) mod field;
pub(super) mod text;
mod within_month;
