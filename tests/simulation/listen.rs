//! The witness's place at the server.

use std::sync::{Arc, Mutex};

use dayshift::clock::Clock;
use kube_in_memory::{Admission, Api, Status};

use crate::witness::{Witness, Write};

/// Has the witness look at every write that the server accepts, as it does.
pub fn listen(api: &Api, truth: &Clock, witness: &Arc<Mutex<Witness>>) {
    let query = Arc::new(Mutex::new(String::new()));
    api.on_request({
        let query = query.clone();
        move |line| {
            query.lock().unwrap().clone_from(&line.query);
            None
        }
    });
    let (truth, witness) = (truth.clone(), witness.clone());
    api.on_admission(move |admission| {
        if admission.resource == "events" {
            let at = truth.now().timestamp_millis();
            witness.lock().unwrap().event(admission.new, at);
        }
        if let Admission {
            resource: "deployments",
            old: Some(old),
            new,
            ..
        } = admission
        {
            let query = query.lock().unwrap();
            let number = query.split('&').find_map(|it| it.strip_prefix("sent="));
            let number: usize = number.unwrap().parse().unwrap();
            let mut witness = witness.lock().unwrap();
            let sent = witness.sent[number].clone();
            let write = Write {
                number,
                sent: &sent,
                at: truth.now().timestamp_millis(),
                old,
                new,
            };
            witness.wrote(&write);
            // Once something is wrong it is not to go on for ever.
            return witness
                .failure
                .as_ref()
                .map(|_| Status::internal("the story is over"));
        }
        None
    });
}
