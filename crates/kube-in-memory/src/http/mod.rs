//! HTTP without a socket: from a request to a response.

mod accept;
mod answer;
mod body;
mod connection;
