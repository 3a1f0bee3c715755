//! An in-memory Kubernetes API, exact enough to stand in for a real one: see [`Api`].

mod api;

pub use api::{Admission, Api, Cause, Details, Fault, RequestLine, Status};
