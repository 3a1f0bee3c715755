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
    /// `This service is starting`, or that its start fails.
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
    /// All placeholders by their names.
    const ALL: [(&str, Self); 10] = [
        ("title", Self::Title),
        ("message", Self::Message),
        ("host", Self::Host),
        ("name", Self::Name),
        ("elapsed", Self::Elapsed),
        ("typical", Self::Typical),
        ("until", Self::Until),
        ("opens", Self::Opens),
        ("contact", Self::Contact),
        ("details", Self::Details),
    ];
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
                let known = Placeholder::ALL.map(|(name, _)| name).join(", ");
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
            let mut known = Placeholder::ALL.into_iter();
            let known = known.find(|(known, _)| *known == name);
            let (_, placeholder) = known.ok_or_else(|| {
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
        let page = template.render(|placeholder| format!("{placeholder:?}"));
        assert_eq!(page, "<h1>Title</h1>Details!");
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
        for (name, _) in Placeholder::ALL {
            let row = format!("| `{{{{{name}}}}}` |");
            assert!(page.contains(&row), "{row}");
        }
    }
}
