//! A plan as a picture: a row for each day, running hours drawn solid.

mod cell;
mod day;
mod group;
mod layout;
mod legend;
mod page;
mod rows;
mod times;

pub(crate) use page::Chart;
