//! Calendar files: what is in them, and what wants to do harm.
//!
//! The judges are lists that people and other programs have written: public holidays, which were
//! compared with the Python package `holidays` 0.109, and `recurrences.txt`, whose days are those
//! of python-dateutil 2.9.

mod corpus;
mod files;
mod holidays;
mod limits;
mod reading;
mod recurrences;
mod weekdays;
