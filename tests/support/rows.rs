//! Tables of cases as text, which rustfmt would spread over several lines for each case.

#![allow(dead_code, reason = "each test binary uses a part of it")]

/// The rows of a table, whose cells are separated by ` => `. Lines that begin with `#` are comments.
pub(crate) fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.trim().lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let cells: Vec<_> = line.split(" => ").collect();
        assert_eq!(cells.len(), N, "{line}");
        std::array::from_fn(|column| cells[column])
    })
}

/// The arguments of a command.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The text of a cell, in which `\n` and `\t` are a line break and a tab.
pub(crate) fn unescaped(cell: &str) -> String {
    cell.replace("\\n", "\n").replace("\\t", "\t")
}
