//! Connects the observer to the server in memory.

use std::sync::{Arc, Mutex};

use dayshift_cluster::clock::Clock;
use kube_in_memory::{Admission, Api, Status};

use crate::{
    checker::observer::{Observer, Write},
    scenario::kinds,
};

/// Passes every accepted write to the observer.
pub fn listen(api: &Api, truth: &Clock, observer: &Arc<Mutex<Observer>>) {
    let query = Arc::new(Mutex::new(String::new()));
    api.on_request({
        let query = query.clone();
        move |line| {
            query.lock().unwrap().clone_from(&line.query);
            None
        }
    });
    let (truth, observer) = (truth.clone(), observer.clone());
    api.on_admission(move |admission| {
        if admission.resource == "events" {
            let at = truth.now().timestamp_millis();
            observer.lock().unwrap().event(admission.new, at);
        }
        if admission.resource == "namespaces" {
            let at = truth.now().timestamp_millis();
            observer.lock().unwrap().wrote_namespace(at);
        }
        if let Admission {
            resource,
            old: Some(old),
            new,
            ..
        } = admission
            && kinds::ALL.iter().any(|kind| kind.plural == *resource)
        {
            let query = query.lock().unwrap();
            let number = query.split('&').find_map(|it| it.strip_prefix("sent="));
            let number: usize = number.unwrap().parse().unwrap();
            let mut observer = observer.lock().unwrap();
            let sent = observer.sent[number].clone();
            let write = Write {
                number,
                sent: &sent,
                at: truth.now().timestamp_millis(),
                old,
                new,
            };
            observer.wrote(&write);
            // The scenario ends after the first violation.
            return observer
                .failure
                .as_ref()
                .map(|_| Status::internal("the scenario is over"));
        }
        None
    });
}
