//! The savings of the counters and of `plan`, compared with a calendar that advances minute by
//! minute. The calendar has its own arithmetic: local times come only from the time zone database;
//! windows and quantities are the numbers from which the annotations were written.

mod calendar;
mod counters;
mod plan;
