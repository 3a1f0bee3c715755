//! The program `dayshift`.

fn main() {}
