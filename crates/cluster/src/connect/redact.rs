//! Error messages without secrets: kube quotes kubeconfigs, tokens and proxy passwords in some of its
//! errors.

use std::error::Error;

use dayshift_text::{error_chain, printable, quote};
use http::Uri;
use kube::{client::AuthError, config::KubeconfigError};

use crate::connect::middleware::causes;

/// Returns a message for an error that would show a credential: kube quotes the lines of an invalid
/// kubeconfig, and the whole input and output of a credential program. `None` for any other error.
fn redact(error: &(dyn Error + 'static)) -> Option<String> {
    for error in causes(error) {
        if let Some(error) = error.downcast_ref::<AuthError>() {
            return credential_message(error);
        }
        if let Some(kube::Error::ProxyProtocolUnsupported { proxy_url }) = error.downcast_ref() {
            return Some(proxy_message(proxy_url));
        }
        if let Some(KubeconfigError::Parse(error)) = error.downcast_ref() {
            return Some(format!(
                "it is not a kubeconfig{}; its text is not shown, because it may hold credentials",
                location(&error.to_string())
            ));
        }
        if let Some(plain) = error.downcast_ref().and_then(kubeconfig_message) {
            return Some(plain);
        }
    }
    None
}

/// Describes a kubeconfig error in kubectl's words. kube's message names Rust types.
fn kubeconfig_message(error: &KubeconfigError) -> Option<String> {
    match error {
        KubeconfigError::ReadConfig(why, path) => {
            Some(format!("{} cannot be read: {why}", path.display()))
        }
        KubeconfigError::CurrentContextNotSet => Some(
            "it has no current context: choose one with --context, or kubectl config use-context NAME"
                .to_owned(),
        ),
        KubeconfigError::LoadContext(name) => Some(format!("it has no context {}", quote(name))),
        KubeconfigError::LoadClusterOfContext(name) => {
            Some(format!("it has no cluster {}", quote(name)))
        }
        _ => None,
    }
}

/// Replaces kube's debug output of a whole response by the API server's message.
fn without_structs(error: &(dyn Error + 'static), mut text: String) -> String {
    for error in causes(error) {
        if let Some(kube::Error::Api(status)) = error.downcast_ref()
            && !status.message.is_empty()
        {
            text = text.replace(&error.to_string(), &printable(&status.message));
        }
    }
    text
}

/// The message of an error, without secrets.
pub(crate) fn redacted(error: &(dyn Error + 'static)) -> String {
    redact(error).unwrap_or_else(|| without_structs(error, error.to_string()))
}

/// The message of an error and of its causes, without secrets.
pub fn redacted_chain(error: &(dyn Error + 'static)) -> String {
    // kube's name for the layers below its client does not help a user.
    redact(error)
        .unwrap_or_else(|| without_structs(error, error_chain(error)).replace("ServiceError: ", ""))
}

fn credential_message(error: &AuthError) -> Option<String> {
    let program = "the credential program of the kubeconfig";
    match error {
        AuthError::AuthExecRun { out, .. } => Some(format!(
            "{program} failed with {}; run it manually to see its output",
            out.status
        )),
        AuthError::AuthExecParse(_) => {
            Some(format!("the output of {program} is not an ExecCredential"))
        }
        AuthError::ParseTokenKey(_) => {
            Some(format!("the token in the output of {program} is not valid"))
        }
        _ => None,
    }
}

/// Describes an unsupported proxy. Its URL can contain a password, so only the scheme is shown.
fn proxy_message(url: &Uri) -> String {
    let protocol = match url.scheme_str() {
        Some(scheme) => format!("the protocol {}", quote(scheme)),
        None => "no protocol".to_owned(),
    };
    format!(
        "the proxy (`proxy-url` of the kubeconfig, else HTTPS_PROXY) has {protocol}; \
         write one as http://proxy.example.com:8080, with http, https or socks5"
    )
}

/// ` at line 5, column 4`, if the message contains both numbers.
fn location(message: &str) -> String {
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
    fn the_chain_names_every_cause_but_no_internal_layer() {
        #[derive(Debug, thiserror::Error)]
        #[error("client error (Connect)")]
        struct Connect(#[source] std::io::Error);

        let cause = Connect(std::io::Error::other("connection refused"));
        let error = kube::Error::Service(cause.into());
        let message = redacted_chain(&error);
        assert_eq!(message, "client error (Connect): connection refused");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the list failed: {0}")]
    struct Layer(#[source] kube::Error);

    #[test]
    fn an_api_error_is_reduced_to_the_message_of_the_server() {
        let status = kube::core::Status::failure("balls is forbidden", "Forbidden").with_code(403);
        let error = kube::Error::Api(Box::new(status));
        let message = redacted_chain(&Layer(error));
        assert_eq!(message, "the list failed: balls is forbidden");
    }

    #[test]
    fn kubeconfig_errors_read_like_those_of_kubectl() {
        let missing = std::io::Error::other("no such file");
        let error = KubeconfigError::ReadConfig(missing, "/nope".into());
        assert_eq!(redacted(&error), "/nope cannot be read: no such file");
        let error = KubeconfigError::LoadContext("nope".to_owned());
        assert_eq!(redacted(&error), "it has no context nope");
    }
}
