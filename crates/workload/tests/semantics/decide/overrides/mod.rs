//! `pause`, `wake-until` and `sleep-until`: during the override and after its end.

mod author;
mod ended;
mod every;
mod pause;
mod sleep;
mod wake;
