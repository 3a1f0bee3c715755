//! Files that try to break the converter.

use dayshift_manifest::{
    SourceFile,
    convert::{Converter, SpanDefaults},
};
use proptest::prelude::*;

use super::converted::{annotated, convert, rule_ids};

#[test]
fn bounds_the_cost_of_deep_and_long_files() {
    let deep = format!("a: {}1{}", "[".repeat(5000), "]".repeat(5000));
    let deep_map = format!("{}x: 1", "a:\n ".repeat(300));
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (from, to) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        bomb += &format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(", "));
    }
    for text in [&deep, &deep_map, &bomb] {
        let conversion = convert(text);
        assert_eq!(conversion.texts, [None]);
        assert!(conversion.changes.is_empty());
    }
    let long = annotated(
        "Deployment",
        &[("uptime", &"Mon-Fri 08:00-20:00 UTC,".repeat(2000))],
    );
    assert_eq!(rule_ids(&convert(&long)), ["not-read"]);
    // dayshift might still reject it because of its size.
    let spans: Vec<_> = (0..360)
        .map(|nth| {
            format!(
                "Mon-Mon {:02}:{:02}-{:02}:{:02} UTC",
                nth / 15,
                nth % 15 * 4,
                nth / 15,
                nth % 15 * 4 + 2
            )
        })
        .collect();
    let long = annotated("Deployment", &[("uptime", &spans.join(","))]);
    let conversion = convert(&long);
    assert_eq!(
        (rule_ids(&conversion), conversion.changes.len()),
        (vec!["no-equivalent"], 0)
    );
}

#[test]
fn escapes_control_characters_in_names() {
    let text = annotated(
        "Deployment",
        &[
            ("uptime", "Mon-Fri \u{1b}[31m-20:00 UTC"),
            ("\u{9b}2J", "x"),
        ],
    );
    let conversion = convert(&text);
    for finding in &conversion.findings {
        assert!(!finding.message.contains(char::is_control), "{finding:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// For any file, the result is equivalent except for the changes, or there is no result.
    #[test]
    fn unconverted_text_does_not_change(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "  annotations:", "  annotations: {}", "  annotations: {downscaler/exclude: 'true'}",
                "    downscaler/exclude: \"true\"", "    downscaler/exclude:", "    'downscaler/exclude': true # why",
                "    downscaler/uptime: Mon-Fri 08:00-20:00 UTC", "    downscaler/uptime: |", "      Mon-Fri 08:00-20:00 UTC",
                "    downscaler/original-replicas: \"3\"", "    downscaler/grace-period: 15m", "    # a comment", "    a: b",
                "    a: &x b", "    downscaler/exclude: *x", "    ? downscaler/exclude", "    : 'true'", "", "---",
                "  labels:", "    app: web", "  labels: {app: web}", "  name: web", "apiVersion: apps/v1", "kind: Deployment",
                "kind: Namespace", "metadata:", "metadata: {name: web}", "\t", "    downscaler/exclude: !!str true",
            ]),
            0..14,
        ),
        ends in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let text = format!("apiVersion: apps/v1{ends}kind: Deployment{ends}metadata:{ends}  name: web{ends}{}", lines.join(ends));
        let conversion = convert(&text);
        let Some(after) = &conversion.texts[0] else { return Ok(()) };
        // Lines without any of the names stay in order.
        let ours = |line: &&str| {
            let names = ["downscaler/", "dayshift/", "annotations", "labels", "Mon-Fri", "true", "name: web", "app: web", "# why"];
            !names.iter().any(|it| line.contains(it)) && !line.trim().is_empty()
        };
        let before: Vec<_> = text.lines().filter(ours).map(str::trim).collect();
        let kept: Vec<_> = after.lines().filter(ours).map(str::trim).collect();
        // Every comment is kept, even if its line is removed.
        prop_assert_eq!(text.matches("# why").count(), after.matches("# why").count(), "{}\n=>\n{}", text, after);
        prop_assert_eq!(before, kept, "{}\n=>\n{}", text, after);
        let again = convert(after);
        prop_assert!(again.texts[0].is_none(), "{}\n=>\n{}\n{:?}", text, after, again);
    }

    #[test]
    fn never_panics(text in "\\PC{0,200}", key in prop::sample::select(vec!["uptime", "exclude", "exclude-until", "original-replicas", "force-uptime", "downscale-period"])) {
        let text = serde_json::to_string(&text).unwrap();
        let file = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    downscaler/{key}: {text}\n");
        let converter = Converter {
            now: "2027-01-01T00:00:00Z".parse().unwrap(),
            prefix: Default::default(),
            namespace: "default".to_owned(),
            defaults: SpanDefaults::default(),
            flags: vec![(key.to_owned(), text)],
            flagged: vec!["team".to_owned()],
            keeps: false,
        };
        converter.convert(&[SourceFile::new("a.yaml", file)]);
    }
}
