//! The null space of a set of vectors, in small whole numbers, as far as there is such a thing.
//!
//! Elimination in whole numbers makes them grow without end. So it is done modulo a large prime,
//! where nothing grows, and each result is read as the small fraction that it stands for. A result
//! may be wrong where the true one is no small fraction: these are guesses.

/// 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// Numerators and denominators at most; twice their product is far below the prime.
const LARGEST: u64 = 1 << 20;

/// Vectors that are orthogonal to all rows.
pub(super) fn kernel(rows: &[Vec<i64>], columns: usize) -> Vec<Vec<i128>> {
    let mut rows: Vec<Vec<u64>> = rows
        .iter()
        .map(|row| row.iter().map(|n| residue(*n)).collect())
        .collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..rows.len()).find(|row| rows[*row][column] != 0) else {
            continue;
        };
        rows.swap(rank, found);
        let inverse = power(rows[rank][column], PRIME - 2);
        for number in &mut rows[rank] {
            *number = times(*number, inverse);
        }
        let pivot = rows[rank].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if index == rank || factor == 0 {
                continue;
            }
            for (number, above) in row.iter_mut().zip(&pivot) {
                *number = (*number + PRIME - times(*above, factor)) % PRIME;
            }
        }
        pivots.push(column);
    }
    let free = (0..columns).filter(|column| !pivots.contains(column));
    free.filter_map(|free| {
        let mut fractions = vec![(0, 1); columns];
        fractions[free] = (1, 1);
        for (row, pivot) in rows.iter().zip(&pivots) {
            fractions[*pivot] = fraction((PRIME - row[free]) % PRIME)?;
        }
        let scale = fractions.iter().try_fold(1i128, |scale, (_, below)| {
            (scale / common(scale, *below)).checked_mul(*below)
        })?;
        let whole = |(above, below): &(i128, i128)| above.checked_mul(scale / below);
        fractions.iter().map(whole).collect()
    })
    .collect()
}

fn residue(number: i64) -> u64 {
    i128::from(number).rem_euclid(i128::from(PRIME)) as u64
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn power(base: u64, exponent: u64) -> u64 {
    let (mut base, mut exponent, mut result) = (base, exponent, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    result
}

/// The fraction of small numbers that a residue stands for (the extended Euclidean algorithm,
/// stopped half way).
fn fraction(residue: u64) -> Option<(i128, i128)> {
    let (mut a, mut b) = (i128::from(PRIME), i128::from(residue));
    let (mut s, mut t) = (0i128, 1i128);
    while b > i128::from(LARGEST) {
        let quotient = a / b;
        (a, b) = (b, a % b);
        (s, t) = (t, s - quotient * t);
    }
    let (above, below) = if t < 0 { (-b, -t) } else { (b, t) };
    (below != 0 && below <= i128::from(LARGEST)).then_some((above, below))
}

/// The greatest common divisor.
fn common(a: i128, b: i128) -> i128 {
    match b {
        0 => a.abs(),
        _ => common(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_rows_have_in_common_is_found() {
        // x + y == 10 and 2z == 3x, seen from differences of states.
        let rows = vec![vec![2, -2, 3], vec![6, -6, 9], vec![-4, 4, -6]];
        let found = kernel(&rows, 3);
        assert_eq!(found, [vec![1, 1, 0], vec![-3, 0, 2]]);
    }

    #[test]
    fn numbers_that_would_grow_do_not_get_in_the_way() {
        // Thirty columns of noise, and the last one is the sum of the first two.
        let mut seed = 1u64;
        let mut noise = || {
            seed = times(seed, 6_364_136_223_846_793_005 % PRIME) + 1;
            (seed % 6001) as i64 - 3000
        };
        let rows: Vec<Vec<i64>> = (0..60)
            .map(|_| {
                let mut row: Vec<i64> = (0..30).map(|_| noise()).collect();
                row.push(row[0] + row[1]);
                row
            })
            .collect();
        let mut expected = vec![0; 31];
        (expected[0], expected[1], expected[30]) = (-1, -1, 1);
        assert_eq!(kernel(&rows, 31), [expected]);
    }
}
