//! A plan as a picture: a row for each day, running hours drawn solid.

mod cell;
mod day;
mod group;
mod layout;
mod page;
mod rows;
mod timeline;
mod times;
mod words;

pub use page::Chart;
