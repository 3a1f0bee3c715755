//! Random text that nobody can guess.

use std::{fmt::Write as _, io};

use subtle::ConstantTimeEq as _;

/// How many random bytes a token has.
const BYTES: usize = 16;

/// Random text that nobody can guess: 32 hexadecimal digits.
pub(crate) struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// Where the system gives nothing random.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::getrandom(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let mut text = String::with_capacity(2 * BYTES);
        for byte in bytes {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is it, which takes as long whatever it is.
    pub(super) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_new_each_time_and_nothing_else() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.is(one.text()) && !one.is(other.text()));
        let short = &one.text()[..one.text().len() - 1];
        assert!(!one.is("") && !one.is(short) && !one.is(&format!("{}0", one.text())));
    }
}
