//! What there is to say of files, and where.

use std::{fmt, hash::Hash, ops::Range, sync::Arc};

use crate::yaml::node::Location;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// dayshift refuses it, or nothing can be read or changed.
    Error,
    /// It is legal, and surely not meant; or it has no equivalent and is left as it is.
    Warning,
    /// It is legal and may well be meant, and there is something to know about it.
    Info,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        })
    }
}

/// What a finding is about. Its name is documented and never changes.
pub trait Rule: Copy + Eq + Hash {
    /// Its name, such as `same-instant`.
    fn id(self) -> &'static str;

    /// How bad what it finds is.
    fn severity(self) -> Severity;
}

/// Makes an enum of rules, each with its severity, its name and what it is about in a line.
macro_rules! rules {
    ($(#[$about:meta])* $name:ident { $($severity:ident $rule:ident $id:literal $what:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $(#[doc = $what] $rule,)* }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// Its name, such as `same-instant`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$rule => $id,)* }
            }

            /// How bad what it finds is.
            pub const fn severity(self) -> $crate::Severity {
                match self { $(Self::$rule => $crate::Severity::$severity,)* }
            }

            /// What it finds, in a line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$rule => $what,)* }
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

/// One thing that there is to say. `P` is where it is: in which of the sources and where in it, but
/// for what is in none, or before that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<R, P = Option<(usize, Location)>> {
    /// What it is about.
    pub rule: R,
    /// What is so, and what comes of it.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where it is.
    pub place: P,
    /// The object, unless the file itself is at fault.
    pub object: Option<Box<ObjectName>>,
    /// The annotation or label, if one is at fault.
    pub quoted: Option<Box<Quoted>>,
}

impl<R, P> Finding<R, P> {
    /// A finding that is about no object.
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

    /// The same about an object.
    #[must_use]
    pub fn about(self, object: Option<ObjectName>) -> Self {
        let object = object.map(Box::new);
        Self { object, ..self }
    }

    /// The same at another place.
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
    /// Such as `Deployment`.
    pub kind: Arc<str>,
    /// Its namespace; empty for what has none, such as a Namespace.
    pub namespace: Arc<str>,
    /// Its name.
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

/// The text of an annotation or label, and the part of it that is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Its full name.
    pub name: String,
    /// Its text, without quotes and escapes.
    pub text: Box<str>,
    /// The bytes of the text that are at fault.
    pub span: Range<usize>,
    /// Whether the text stands in the file letter by letter, so that the finding's place is that
    /// of the bytes at fault and not of the whole value.
    pub verbatim: bool,
}
