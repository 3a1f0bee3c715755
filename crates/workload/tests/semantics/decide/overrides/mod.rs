//! `pause`, `wake-until` and `sleep-until`, while they last and after they end.

mod author;
mod ended;
mod every;
mod pause;
mod sleep;
mod wake;
