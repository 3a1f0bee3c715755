//! What goes wrong between a client and the server.

use std::time::Duration;

use crate::status::Status;

/// What a fault hook may do to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answer this instead: an outage, a refusal by RBAC or by a policy.
    Answer(Status),
    /// The same after this time (tokio's clock): what stands in the way has to be asked first.
    AnswerAfter(Duration, Status),
    /// The connection breaks before the server has read the request.
    DropBefore,
    /// The request takes effect, then the connection breaks: the answer is lost.
    DropAfter,
    /// The request never arrives and no answer ever comes.
    Hang,
    /// The request is served after this time (tokio's clock).
    Delay(Duration),
}
