//! What CPU and memory cost: `cpu=0.031,memory=0.0042,currency=EUR`.

use dayshift_text::quote;

use super::saved::Saved;

/// What an hour of a CPU core and of a GiB of memory costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    cpu: f64,
    memory: f64,
    currency: String,
}

/// Why a text is no price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; write what an hour of a CPU core and of a GiB of memory costs, such as \
     cpu=0.031,memory=0.0042,currency=EUR; each part may be left out"
)]
pub struct PriceError(String);

impl Price {
    /// Reads a text such as `cpu=0.031,memory=0.0042,currency=EUR`.
    ///
    /// # Errors
    /// Where a part is unknown, given twice or has no such value, and where neither CPU nor memory
    /// has a price.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let (mut cpu, mut memory, mut currency) = (None, None, None);
        for part in text.split(',') {
            let wrong = |what: &str| PriceError(format!("`{}` {what}", quote(part)));
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            let number = || {
                let number = value.parse().ok();
                number
                    .filter(|it: &f64| (0.0..1e9).contains(it))
                    .ok_or_else(|| wrong("is not a price"))
            };
            let is_new = match name.trim() {
                "cpu" => cpu.replace(number()?).is_none(),
                "memory" => memory.replace(number()?).is_none(),
                "currency" => {
                    let is_word = |c: char| !c.is_control() && !c.is_whitespace();
                    if value.is_empty() || value.chars().count() > 8 || !value.chars().all(is_word)
                    {
                        return Err(wrong("is not a currency"));
                    }
                    currency.replace(value.to_owned()).is_none()
                }
                _ => return Err(wrong("is not cpu=, memory= or currency=")),
            };
            if !is_new {
                return Err(wrong("is given twice"));
            }
        }
        if cpu.is_none() && memory.is_none() {
            return Err(PriceError("neither CPU nor memory has a price".to_owned()));
        }
        Ok(Self {
            cpu: cpu.unwrap_or_default(),
            memory: memory.unwrap_or_default(),
            currency: currency.unwrap_or_default(),
        })
    }

    /// What so much costs.
    pub fn of(&self, saved: &Saved) -> f64 {
        self.cpu * saved.cpu_core_hours + self.memory * saved.memory_gib_hours
    }

    /// The currency, as it was given; empty where it was not.
    pub fn currency(&self) -> &str {
        &self.currency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_may_be_left_out_but_one() {
        let saved = Saved {
            replica_hours: 1.0,
            cpu_core_hours: 100.0,
            memory_gib_hours: 1000.0,
        };
        for (text, expected, currency) in [
            ("cpu=0.031,memory=0.0042,currency=EUR", 7.3, "EUR"),
            ("currency=€, memory=0.0042 , cpu=0.031", 7.3, "€"),
            ("cpu=0.031", 3.1, ""),
            ("memory=1", 1000.0, ""),
            ("cpu=0,memory=0", 0.0, ""),
        ] {
            let price = Price::parse(text).unwrap();
            assert!((price.of(&saved) - expected).abs() < 1e-9, "{text}");
            assert_eq!(price.currency(), currency);
        }
    }

    #[test]
    fn an_error_names_the_part_and_shows_a_right_price() {
        for (text, expected) in [
            ("", "`` is not cpu=, memory= or currency="),
            ("0.031", "`0.031` is not cpu=, memory= or currency="),
            ("cpu=0,031", "`031` is not cpu=, memory= or currency="),
            ("gpu=1", "`gpu=1` is not cpu=, memory= or currency="),
            ("cpu=", "`cpu=` is not a price"),
            ("cpu=-1", "`cpu=-1` is not a price"),
            ("cpu=NaN", "`cpu=NaN` is not a price"),
            ("cpu=inf", "`cpu=inf` is not a price"),
            ("memory=3EUR", "`memory=3EUR` is not a price"),
            ("cpu=1,cpu=2", "`cpu=2` is given twice"),
            ("cpu=1,currency=", "`currency=` is not a currency"),
            (
                "cpu=1,currency=a\u{1b}b",
                "`currency=a\\u{1b}b` is not a currency",
            ),
            ("currency=EUR", "neither CPU nor memory has a price"),
        ] {
            let error = Price::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
            assert!(error.contains("such as cpu=0.031,memory=0.0042,currency=EUR"));
        }
    }
}
