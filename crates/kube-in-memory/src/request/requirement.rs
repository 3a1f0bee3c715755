//! One requirement of a selector.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub key: String,
    pub test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    MoreThan(i64),
    LessThan(i64),
    Exists,
    Missing,
}

impl Requirement {
    /// Whether a label or a field with this value, or none, meets it.
    pub(crate) fn holds(&self, value: Option<&str>) -> bool {
        let among =
            |values: &[String]| value.is_some_and(|value| values.iter().any(|v| v == value));
        let number = value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::In(values) => among(values),
            Test::NotIn(values) => !among(values),
            Test::MoreThan(least) => number.is_some_and(|number| number > *least),
            Test::LessThan(most) => number.is_some_and(|number| number < *most),
            Test::Exists => value.is_some(),
            Test::Missing => value.is_none(),
        }
    }
}
