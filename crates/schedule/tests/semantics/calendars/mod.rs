//! Calendar files: their days, and hostile input.
//!
//! The oracles are lists by people and by other programs: public holidays, which were compared
//! with the Python package `holidays` 0.109, and `recurrences.txt`, whose days are from
//! python-dateutil 2.9.

mod corpus;
mod files;
mod holidays;
mod limits;
mod reading;
mod recurrences;
mod weekdays;
