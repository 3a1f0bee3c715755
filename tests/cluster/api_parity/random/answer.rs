//! The parts of a response that must agree: wording may differ, the fields that a client acts on
//! may not.

use serde_json::{Value, json};

/// The parts that are compared: the code, and the reason and fields of a rejection, or the object without its
/// status.
pub fn essence(mut answer: Value) -> Value {
    let Some(body) = answer.get_mut("body") else {
        return answer;
    };
    if body["kind"] == "Status" {
        let cause = |cause: &Value| json!([cause["reason"], cause["field"]]);
        let mut causes: Vec<_> = body["details"]["causes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(cause)
            .collect();
        // The server checks metadata more than once and reports it each time.
        causes.sort_by_key(Value::to_string);
        causes.dedup();
        *body = json!({"reason": body["reason"], "causes": causes});
    } else if body.is_object() {
        body["status"].take();
    }
    answer
}
