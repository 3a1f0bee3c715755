//! Kubernetes quantities: `100m`, `1.5Gi`, `1e3`
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).

/// The factor to billionths. Kubernetes stores nothing finer, and rounds up.
pub const NANOS: u64 = 1_000_000_000;

/// More digits than any quantity in use has. If a string has more, the rest only rounds up.
const MAX_DIGITS: u128 = 10_u128.pow(19);

/// The quantity in billionths, at most `u64::MAX`. `None` if the string is not a quantity or is
/// negative.
pub(super) fn nanos(text: &str) -> Option<u64> {
    u64::try_from(exact(text)?).ok().or(Some(u64::MAX))
}

/// The quantity in whole units, rounded up.
pub(super) fn whole(text: &str) -> Option<u64> {
    let whole = exact(text)?.div_ceil(NANOS.into());
    u64::try_from(whole).ok().or(Some(u64::MAX))
}

fn exact(text: &str) -> Option<u128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_negative = text.starts_with('-');
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = unsigned.find(|c| !is_number(c));
    let (number, suffix) = unsigned.split_at(end.unwrap_or(unsigned.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // Kubernetes reads a quantity without a digit as 0.
    if text.is_empty() || fraction.contains('.') {
        return None;
    }
    let (power_of_two, power_of_ten) = power(suffix)?;
    let (mut digits, mut scale, mut is_cut) = (0, power_of_ten.saturating_add(9), false);
    for (place, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let is_fraction = place >= whole.len();
        if digits < MAX_DIGITS {
            digits = digits * 10 + u128::from(digit - b'0');
            scale -= i32::from(is_fraction);
        } else {
            is_cut |= digit != b'0';
            scale += i32::from(!is_fraction);
        }
    }
    let digits = digits
        .saturating_add(is_cut.into())
        .saturating_mul(1 << power_of_two);
    let factor = 10_u128.checked_pow(scale.unsigned_abs());
    Some(match (factor, scale >= 0) {
        _ if digits == 0 => 0,
        _ if is_negative => return None,
        (Some(factor), true) => digits.saturating_mul(factor),
        (Some(factor), false) => digits.div_ceil(factor),
        (None, true) => u128::MAX,
        (None, false) => 1,
    })
}

/// The powers of two and of ten of a suffix.
fn power(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (
            0,
            suffix.strip_prefix(['e', 'E'])?.parse::<i16>().ok()?.into(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_quantities_like_kubernetes() {
        for (text, expected) in [
            ("1", 1_000_000_000),
            ("100m", 100_000_000),
            ("0.5", 500_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("+2", 2_000_000_000),
            ("250u", 250_000),
            ("7n", 7),
            ("0.1n", 1), // rounded up
            ("1.0000000001", 1_000_000_001),
            ("0", 0),
            ("000", 0),
            ("0.000", 0),
            ("-0", 0),
            ("m", 0),
            (".", 0),
            ("+", 0),
            ("1e-9", 1),
            ("1e-30", 1),
            ("25e-2", 250_000_000),
            ("1E1", 10_000_000_000),
            ("12345678901234567890123", u64::MAX),
            ("1E", u64::MAX),
            ("1e300", u64::MAX),
        ] {
            assert_eq!(nanos(text), Some(expected), "{text}");
        }
        for (text, expected) in [
            ("128974848", 128_974_848),
            ("1e3", 1000),
            ("1E3", 1000),
            ("1k", 1000),
            ("1G", 1_000_000_000),
            ("128Mi", 134_217_728),
            ("1.5Gi", 1_610_612_736),
            ("0.1Ki", 103), // 102.4
            ("1m", 1),
            ("129e6", 129_000_000),
            ("2Ti", 2_199_023_255_552),
            ("1E", 1_000_000_000_000_000_000),
            ("1Ei", 1_152_921_504_606_846_976),
            ("99Ei", u64::MAX),
        ] {
            assert_eq!(whole(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn rejects_strings_that_are_not_quantities() {
        for text in [
            "",
            "-1",
            "-100m",
            "abc",
            "1KB",
            "1 Gi",
            "1Gi ",
            " 1",
            "1.2.3",
            "1e",
            "1ee3",
            "1e1.5",
            "0x10",
            "1_000",
            "1,5",
            "１",
            "1mm",
            "NaN",
            "inf",
            "++1",
            "1e99999999999",
        ] {
            assert_eq!((nanos(text), whole(text)), (None, None), "{text}");
        }
    }
}
