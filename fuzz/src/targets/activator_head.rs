//! The first bytes of a connection to the activator.

use dayshift_activator::probe::FirstBytes;
use dayshift_text::is_unprintable;

/// The maximum size of a head that the activator reads.
const MAX_HEAD: usize = 16 * 1024;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(MAX_HEAD - 1)];
    let all = FirstBytes::parse(bytes);
    // The network can split a head anywhere. Further bytes change no decision.
    for end in splits(bytes.len()) {
        let part = FirstBytes::parse(&bytes[..end]);
        assert!(
            part == all || part == FirstBytes::Incomplete,
            "{end} bytes are {part:?}, and all are {all:?}"
        );
    }
    let FirstBytes::Request(head) = all else {
        return;
    };
    for text in [&head.path, &head.host, &head.agent] {
        assert!(!text.chars().any(is_unprintable), "{text:?}");
        assert!(text.chars().count() <= 100, "{text:?} is too long");
    }
    assert!(!head.path.contains(['?', '#']), "{:?}", head.path);
}

/// The positions to split at: each of the first 32, and some of the later ones.
fn splits(length: usize) -> impl Iterator<Item = usize> {
    let step = (length / 64).max(1);
    (1..length.min(32)).chain((32..length).step_by(step))
}
