//! The path of the size in a user-defined kind, and errors in it.

use crate::kinds::rows::assert_wrong_row;
use crate::rows::rows;

#[test]
fn reports_an_invalid_size_with_its_position() {
    for [row, at, output] in rows(
        r#"
            field: spec.off, stopped: true, instances: "spec.a[].n", resources: "spec.b[].r" => "spec.b => it is not in the same list as its `instances`
            field: spec.off, stopped: true, instances: [spec.a, spec.b], resources: spec.r => spec.r => `resources` and `instances` go together, and there are 1 and 2 of them
            field: spec.off, stopped: true, instances: "spec.a[]" => "spec.a => `spec.a[]` ends in a list; write spec.pools[].size
            field: spec.off, stopped: true, instances: [spec.a, "spec.b[][].n"] => "spec.b => `spec.b[][].n` is not a field of spec
            field: "spec.off[].x", stopped: true => "spec => `spec.off[].x` goes through a list; write one field
            field: spec.n, holds: replicas, resources: "spec.a[].r" => "spec.a => the pods of a count have `resources` in one place, outside of lists
        "#,
    ) {
        let line = format!("- {{resource: things.example.com, kind: Thing, {row}}}");
        assert_wrong_row(&line, at, output);
    }
}
