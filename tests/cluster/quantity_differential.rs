//! The requests of a Pod compared with Kubernetes' own `resource.Quantity`.

use std::sync::Arc;

use dayshift_workload::{PodRequests, ResourceRequests, Resources};
use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;

use crate::{
    go_program::{GoProgram, Test, random},
    support::Stage,
};

static KUBERNETES: GoProgram = GoProgram::of("quantity_differential");

pub(crate) fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    let tests: [(&str, Test); 2] = [
        ("random_amounts_are_as_much", same_amounts),
        ("edges_are_as_much", same_edges),
    ];
    KUBERNETES.trials(stage, &tests)
}

/// The fallback if a value is no quantity: the limit.
const LIMIT: u64 = 987_654_321;

/// A request of CPU and memory with this value; `None` if it is no quantity.
fn ours(text: &str) -> Option<(u64, u64)> {
    let mut resources = Resources::default();
    for resource in ["cpu", "memory"] {
        resources.requests.insert(resource, text);
    }
    resources.limits.insert("cpu", &format!("{LIMIT}n"));
    resources.limits.insert("memory", &LIMIT.to_string());
    let mut pod = PodRequests::default();
    pod.container(resources);
    let ResourceRequests {
        cpu_nanos,
        memory_bytes,
    } = pod.total();
    (cpu_nanos != LIMIT && memory_bytes != LIMIT).then_some((cpu_nanos, memory_bytes))
}

/// Kubernetes' result in dayshift's form: a negative value is no quantity, because the API server rejects it,
/// and a value that is too large is the maximum.
fn theirs(answer: &str) -> Option<(u64, u64)> {
    let (nanos, whole) = answer.split_once('\t')?;
    if nanos.starts_with('-') {
        return None;
    }
    // A failure means more digits than any number of this test has.
    let nanos: u128 = nanos.parse().unwrap_or(u128::MAX);
    // Beyond this value, the `Value` of Kubernetes overflows.
    let is_large = nanos > u128::from(u64::MAX >> 1) * 1_000_000_000;
    let whole = if is_large {
        LARGE
    } else {
        whole.parse().unwrap()
    };
    Some((u64::try_from(nanos).unwrap_or(u64::MAX), whole))
}

/// The largest integer of Kubernetes.
const LARGE: u64 = u64::MAX >> 1;

/// Whether there is a digit before the suffix. Kubernetes reads a number without one as 0, or
/// reports an error for a large suffix.
fn has_digits(text: &str) -> bool {
    let number = text.split(|c: char| c.is_ascii_alphabetic()).next();
    number.is_some_and(|it| it.contains(|c: char| c.is_ascii_digit()))
}

/// The number of digits that are read exactly. Further digits round up, to slightly more than the
/// quantity.
const EXACT: usize = 19;

fn digits(text: &str) -> usize {
    let number = text.split(|c: char| c.is_ascii_alphabetic()).next();
    number.map_or(0, |it| it.chars().filter(char::is_ascii_digit).count())
}

/// Whether `ours` is at least `theirs`, and larger by at most 10^-24 of the value.
fn is_hardly_more(ours: u64, theirs: u64) -> bool {
    let most = theirs.saturating_add(theirs / 1_000_000_000_000_000_000 + 1);
    (theirs..=most).contains(&ours)
}

fn compare(kubernetes: &GoProgram, texts: &[String]) -> Result<usize, Failed> {
    let mut read = 0;
    for (text, answer) in texts.iter().zip(kubernetes.answers(texts)) {
        let ours = ours(text).map(|(nanos, whole)| (nanos, whole.min(LARGE)));
        let theirs = theirs(&answer);
        let is_same = match (ours, theirs) {
            (Some(ours), Some(theirs)) if digits(text) > EXACT => {
                is_hardly_more(ours.0, theirs.0) && is_hardly_more(ours.1, theirs.1)
            }
            _ => ours == theirs,
        };
        if !is_same {
            return Err(format!("`{text}`: {ours:?}, but Kubernetes {theirs:?} ({answer})").into());
        }
        read += usize::from(theirs.is_some());
    }
    Ok(read)
}

fn amounts() -> impl Strategy<Value = String> {
    let suffixes = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    let suffix = prop_oneof![
        6 => prop::sample::select(suffixes.to_vec()).prop_map(str::to_owned),
        1 => "[eE][+-]?[0-9]{1,2}",
    ];
    let number = prop_oneof![
        4 => "[0-9]{1,6}",
        2 => "[0-9]{0,22}[.][0-9]{0,22}",
        1 => "[0-9]{15,24}",
        1 => "0{0,3}[.]0{0,12}[0-9]{1,3}",
        1 => "[19]0{0,20}[.]?0{0,12}[0-9]?",
    ];
    ("[+-]?", number, suffix).prop_map(|(sign, number, suffix)| {
        // Most values are positive.
        let sign = if number.len() % 5 == 0 { &*sign } else { "" };
        format!("{sign}{number}{suffix}")
    })
}

/// Valid quantities of which a character was changed.
fn damaged() -> impl Strategy<Value = String> {
    let damage = "[-+.0-9eEiKkmn_, x]{0,2}";
    (amounts(), any::<prop::sample::Index>(), damage).prop_map(|(text, at, damage)| {
        let at = at.index(text.len());
        format!("{}{damage}{}", &text[..at], &text[at + 1..])
    })
}

fn same_amounts(kubernetes: &GoProgram) -> Result<(), Failed> {
    let mut amounts = random(amounts(), 20_000);
    amounts.retain(|text| has_digits(text));
    let read = compare(kubernetes, &amounts)?;
    let damaged = random(damaged(), 20_000);
    // Kubernetes itself cannot count an exponent of many digits.
    let is_small = |text: &String| text.rsplit_once(['e', 'E']).is_none_or(|it| it.1.len() < 5);
    let damaged: Vec<_> = damaged
        .into_iter()
        .filter(|it| is_small(it) && has_digits(it))
        .collect();
    let read_damaged = compare(kubernetes, &damaged)?;
    if read < 15_000 || !(2000..damaged.len() - 2000).contains(&read_damaged) {
        return Err(format!("too few to mean anything: {read}, {read_damaged}").into());
    }
    Ok(())
}

fn same_edges(kubernetes: &GoProgram) -> Result<(), Failed> {
    let texts = [
        "",
        "0",
        "-0",
        "+",
        "-",
        ".",
        "Ki",
        "m",
        "e3",
        "e",
        "1e",
        "1ee3",
        "1e1.5",
        "+1",
        "++1",
        "-1",
        "5.",
        ".5",
        "1.2.3",
        "1KB",
        "1K",
        "1 Gi",
        "1Gi ",
        " 1",
        "0x10",
        "1_000",
        "1,5",
        "１",
        "NaN",
        "inf",
        "infinity",
        "1mm",
        "100m",
        "0.1n",
        "0.1Ki",
        "1.0000000001",
        "1e-30",
        "1E",
        "1Ei",
        "7.9999Ei",
        "8Ei",
        "99Ei",
        "1e300",
        "9223372036854775807",
        "9223372036854775808",
        "9223372036854775807k",
        "18446744073.709551615",
        "18446744073.709551616",
        "0.9999999999999999999999999Ki",
        "12345678901234567890123",
        "000.500",
        "1e03",
        "1E-3",
    ];
    compare(kubernetes, &texts.map(str::to_owned))?;
    Ok(())
}
