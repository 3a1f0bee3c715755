//! `--page-template`: an HTML page of the operator with placeholders.

use std::fmt;

/// The maximum size of a template in bytes.
pub const MAX_TEMPLATE: usize = 64 * 1024;

/// A page with placeholders such as `{{title}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Html(Box<str>),
    Value(Placeholder),
}

/// A value on a page. All except [`Placeholder::Details`] are text, which is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// `This service is starting`.
    Title,
    /// A sentence.
    Message,
    /// The `Host` of the request.
    Host,
    /// The name of the Service, with `--page-names`.
    Name,
    /// The seconds since the start began.
    Elapsed,
    /// The median of the last starts in seconds.
    Typical,
    /// The time until which it is awake.
    Until,
    /// The time from which a request wakes it again.
    Opens,
    /// `--page-contact`.
    Contact,
    /// The rest of the standard page as HTML.
    Details,
}

impl Placeholder {
    const ALL: [Self; 10] = [
        Self::Title,
        Self::Message,
        Self::Host,
        Self::Name,
        Self::Elapsed,
        Self::Typical,
        Self::Until,
        Self::Opens,
        Self::Contact,
        Self::Details,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Message => "message",
            Self::Host => "host",
            Self::Name => "name",
            Self::Elapsed => "elapsed",
            Self::Typical => "typical",
            Self::Until => "until",
            Self::Opens => "opens",
            Self::Contact => "contact",
            Self::Details => "details",
        }
    }
}

/// Why a file is not a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// The file is too large.
    TooLarge,
    /// A `{{` has no `}}`.
    NotClosed,
    /// A placeholder has this unknown name.
    Unknown(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the page is larger than {MAX_TEMPLATE} bytes"),
            Self::NotClosed => f.write_str("a `{{` has no `}}`"),
            Self::Unknown(name) => {
                let known = Placeholder::ALL.map(Placeholder::name).join(", ");
                write!(
                    f,
                    "`{name}` is not a placeholder; the placeholders are {known}"
                )
            }
        }
    }
}

impl std::error::Error for TemplateError {}

impl PageTemplate {
    /// Parses a page.
    ///
    /// # Errors
    /// If it is too large, or if a placeholder is unknown or not closed.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > MAX_TEMPLATE {
            return Err(TemplateError::TooLarge);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((html, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::NotClosed)?;
            let name = name.trim();
            let placeholder = Placeholder::ALL
                .into_iter()
                .find(|known| known.name() == name);
            let placeholder = placeholder.ok_or_else(|| {
                let shown = dayshift_text::printable(dayshift_text::cut_chars(name, 40));
                TemplateError::Unknown(shown)
            })?;
            parts.push(Part::Html(html.into()));
            parts.push(Part::Value(placeholder));
            rest = after;
        }
        parts.push(Part::Html(rest.into()));
        Ok(Self(parts))
    }

    /// The page with these values, which are HTML.
    pub(crate) fn render(&self, value: impl Fn(Placeholder) -> String) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Html(html) => html.to_string(),
            Part::Value(placeholder) => value(*placeholder),
        });
        parts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let template = PageTemplate::parse("<h1>{{title}}</h1>{{ details }}!").unwrap();
        let page = template.render(|placeholder| placeholder.name().to_uppercase());
        assert_eq!(page, "<h1>TITLE</h1>DETAILS!");
        assert_eq!(
            PageTemplate::parse("{a} }}")
                .unwrap()
                .render(|_| String::new()),
            "{a} }}"
        );
    }

    #[test]
    fn template_with_a_mistake_is_rejected_with_the_placeholders() {
        let unknown = PageTemplate::parse("{{titel}}").unwrap_err().to_string();
        assert!(
            unknown.starts_with("`titel` is not a placeholder; the placeholders are title, "),
            "{unknown}"
        );
        assert_eq!(
            PageTemplate::parse("{{title"),
            Err(TemplateError::NotClosed)
        );
        let large = "x".repeat(MAX_TEMPLATE + 1);
        assert_eq!(PageTemplate::parse(&large), Err(TemplateError::TooLarge));
    }

    #[test]
    fn documentation_lists_each_placeholder() {
        let page = include_str!("../../../docs/guides/wake-on-request.md");
        for placeholder in Placeholder::ALL {
            let name = format!("| `{{{{{}}}}}` |", placeholder.name());
            assert!(page.contains(&name), "{name}");
        }
    }
}
