//! "Did you mean": the known name that is nearest to an unknown one.

/// The nearest of `known`, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = unknown.chars().count();
    let limit = (length / 3).max(1);
    known
        .into_iter()
        .filter(|name| !name.is_empty() && *name != unknown)
        .map(|name| (distance(unknown, name, limit), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// A hint for a message: "did you mean ...?".
pub fn did_you_mean<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(unknown, known).map(|name| format!("did you mean `{name}`?"))
}

/// Edits (insert, delete, change, swap of neighbours) between two words; case counts nothing.
/// Words whose lengths differ by more than `limit` are not compared.
fn distance(left: &str, right: &str, limit: usize) -> usize {
    let fold = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    let (left, right) = (fold(left), fold(right));
    if left.len().abs_diff(right.len()) > limit {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let change = previous[j] + usize::from(a != b);
            let mut best = change.min(previous[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_is_recognised() {
        assert_eq!(nearest("passcod", ["passcode", "tries"]), Some("passcode"));
        assert_eq!(nearest("Lokced", ["Locked", "Open"]), Some("Locked"));
        assert_eq!(nearest("LOCKED", ["locked"]), Some("locked"));
        assert_eq!(nearest("x", ["passcode", "tries"]), None);
    }
}
