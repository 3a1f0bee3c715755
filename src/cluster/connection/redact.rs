//! Errors of kube that quote what nobody but the API server should see.

use std::error::Error;

use kube::{client::AuthError, config::KubeconfigError};

use crate::text::error_chain;

/// What to say of an error that would show a credential: kube quotes the lines of a kubeconfig
/// that is wrong, and all that a credential program got and printed. `None` for any other error.
fn redact(error: &(dyn Error + 'static)) -> Option<String> {
    let mut link = Some(error);
    while let Some(error) = link {
        if let Some(error) = error.downcast_ref::<AuthError>() {
            return of_credentials(error);
        }
        if let Some(KubeconfigError::Parse(error)) = error.downcast_ref() {
            return Some(format!(
                "it is not a kubeconfig{}; its text is not shown, because it may hold credentials",
                place(&error.to_string())
            ));
        }
        link = error.source();
    }
    None
}

/// The error in words, without what is secret in it.
pub(in crate::cluster) fn redacted(error: &(dyn Error + 'static)) -> String {
    redact(error).unwrap_or_else(|| error.to_string())
}

/// The error and its causes in words, without what is secret in them.
pub fn redacted_chain(error: &(dyn Error + 'static)) -> String {
    // kube's name for whatever is below its client tells a user nothing.
    redact(error).unwrap_or_else(|| error_chain(error).replace("ServiceError: ", ""))
}

fn of_credentials(error: &AuthError) -> Option<String> {
    let program = "the credential program of the kubeconfig";
    match error {
        AuthError::AuthExecRun { out, .. } => Some(format!(
            "{program} failed with {}; run it by hand to see what it says",
            out.status
        )),
        AuthError::AuthExecParse(_) => {
            Some(format!("what {program} prints is not an ExecCredential"))
        }
        AuthError::ParseTokenKey(_) => {
            Some(format!("the token that {program} prints is not valid"))
        }
        _ => None,
    }
}

/// ` at line 5, column 4`, where the first line of a message has them.
fn place(message: &str) -> String {
    let number = |word: &str| {
        let (_, rest) = message.lines().next()?.split_once(word)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    match (number("line "), number("column ")) {
        (Some(line), Some(column)) => format!(" at line {line}, column {column}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_told_without_the_names_of_layers() {
        #[derive(Debug, thiserror::Error)]
        #[error("client error (Connect)")]
        struct Connect(#[source] std::io::Error);

        let cause = Connect(std::io::Error::other("connection refused"));
        let error = kube::Error::Service(cause.into());
        let told = redacted_chain(&error);
        assert_eq!(told, "client error (Connect): connection refused");
    }
}
