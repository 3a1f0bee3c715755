//! What is done with the objects of all files.

mod annotations;
mod by_hand;
mod landing;
mod meant;
mod state;
mod volumes;
mod writing;

pub(crate) use state::Work;
