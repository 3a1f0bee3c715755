//! Fair shares of a limited capacity, for namespaces that compete for it.

/// The largest share for which the sum of all demands, each limited to it, is at most `capacity`.
/// `usize::MAX` if all demands fit.
pub fn fair_share(mut demands: Vec<usize>, mut capacity: usize) -> usize {
    demands.sort_unstable();
    let mut others = demands.len();
    for demand in demands {
        let share = capacity / others;
        if demand > share {
            return share;
        }
        capacity -= demand;
        others -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_demands_are_met_completely() {
        for (demands, capacity, expected) in [
            (vec![], 10, usize::MAX),
            (vec![3, 4], 10, usize::MAX),
            (vec![1, 100], 10, 9),
            (vec![2, 50, 100], 12, 5),
            (vec![5, 5], 9, 4),
        ] {
            let share = fair_share(demands.clone(), capacity);
            assert_eq!(share, expected, "{demands:?}");
        }
    }
}
