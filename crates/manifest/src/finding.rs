//! Findings about files, in the form that `lint` and `convert` share: a rule, a message, a help and
//! a place.

use std::{fmt, hash::Hash, ops::Range, sync::Arc};

use dayshift_text::named_enum;

use crate::yaml::node::Location;

named_enum! {
    /// How severe a finding is.
    pub enum Severity {
        /// dayshift or the API server rejects it, or a file cannot be read or changed.
        Error = "error",
        /// Valid but likely a mistake, or a setting that has no equivalent and stays as it is.
        Warning = "warning",
        /// Valid and possibly intended.
        Info = "info",
    }
}

/// A rule that a finding refers to. Its id is documented and never changes.
pub trait Rule: Copy + Eq + Hash {
    /// The id, such as `same-instant`.
    fn id(self) -> &'static str;

    /// The severity of its findings.
    fn severity(self) -> Severity;
}

/// Defines an enum of rules, each with its severity, its id and a summary.
macro_rules! rules {
    ($(#[$about:meta])* $name:ident { $($severity:ident $rule:ident $id:literal $description:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $description] $rule,)* }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// The id, such as `same-instant`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$rule => $id,)* }
            }

            /// The severity of its findings.
            pub const fn severity(self) -> $crate::Severity {
                match self { $(Self::$rule => $crate::Severity::$severity,)* }
            }

            /// A sentence about the violations that it finds.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$rule => $description,)* }
            }
        }

        impl $crate::Rule for $name {
            fn id(self) -> &'static str {
                self.id()
            }

            fn severity(self) -> $crate::Severity {
                self.severity()
            }
        }
    };
}

pub(crate) use rules;

/// A finding. `P` is its place: the index of the source and the location in it. Findings about a
/// flag or a missing file have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<R, P = Option<(usize, Location)>> {
    /// The violated rule.
    pub rule: R,
    /// The problem and its effect.
    pub message: String,
    /// How to fix it.
    pub help: String,
    /// The place.
    pub place: P,
    /// The object, unless the finding is about the file itself.
    pub object: Option<Box<ObjectName>>,
    /// The annotation or label that the finding quotes.
    pub quoted: Option<Box<Quoted>>,
}

impl<R, P> Finding<R, P> {
    /// A finding that is not about an object.
    pub fn new(rule: R, place: P, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            help: help.into(),
            place,
            object: None,
            quoted: None,
        }
    }

    /// The finding, about an object or about none.
    #[must_use]
    pub fn about(self, object: Option<ObjectName>) -> Self {
        let object = object.map(Box::new);
        Self { object, ..self }
    }

    /// The finding, at another place.
    #[must_use]
    pub fn at<Q>(self, place: Q) -> Finding<R, Q> {
        Finding {
            rule: self.rule,
            message: self.message,
            help: self.help,
            place,
            object: self.object,
            quoted: self.quoted,
        }
    }
}

/// An object of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// The kind, such as `Deployment`.
    pub kind: Arc<str>,
    /// The namespace; empty for an object without one, such as a Namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            return write!(f, "{} {}", self.kind, self.name);
        }
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The value of an annotation or label, and the bytes that a finding marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// The full name.
    pub name: String,
    /// The value, without quotes and escapes.
    pub text: Box<str>,
    /// The marked bytes of the value.
    pub span: Range<usize>,
    /// Whether the file contains the value verbatim, so that the finding's place is that of the
    /// marked bytes rather than the whole value.
    pub verbatim: bool,
}
