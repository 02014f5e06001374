//! Integers as rows of gates: two's complement, least significant bit first, the last bit is the sign.

use super::{Aig, Lit};

pub(crate) type Word = Vec<Lit>;

/// Bits needed for a signed number.
fn width(number: i64) -> usize {
    let magnitude = if number < 0 { !number } else { number };
    (64 - magnitude.leading_zeros()) as usize + 1
}

pub(crate) fn constant(number: i64) -> Word {
    (0..width(number))
        .map(|bit| {
            if number >> bit & 1 == 1 {
                Lit::TRUE
            } else {
                Lit::FALSE
            }
        })
        .collect()
}

fn bit(word: &[Lit], index: usize) -> Lit {
    word.get(index)
        .or(word.last())
        .copied()
        .unwrap_or(Lit::FALSE)
}

fn sign(word: &[Lit]) -> Lit {
    word.last().copied().unwrap_or(Lit::FALSE)
}

/// Drops sign bits that say the same as the bit before them.
fn trim(mut word: Word) -> Word {
    while word.len() > 1 && word[word.len() - 1] == word[word.len() - 2] {
        word.pop();
    }
    word
}

impl Aig {
    pub fn word_ite(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Word {
        let wide = then.len().max(otherwise.len());
        let word = (0..wide)
            .map(|index| self.ite(condition, bit(then, index), bit(otherwise, index)))
            .collect();
        trim(word)
    }

    pub fn word_equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let wide = a.len().max(b.len());
        let bits: Vec<Lit> = (0..wide)
            .map(|index| self.iff(bit(a, index), bit(b, index)))
            .collect();
        self.and_all(&bits)
    }

    fn add_carry(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit, negate_b: bool) -> Word {
        let wide = a.len().max(b.len()) + 1;
        let mut sum = Vec::with_capacity(wide);
        for index in 0..wide {
            let (x, y) = (bit(a, index), bit(b, index).flip_if(negate_b));
            let half = self.xor(x, y);
            sum.push(self.xor(half, carry));
            let both = self.and(x, y);
            let through = self.and(half, carry);
            carry = self.or(both, through);
        }
        trim(sum)
    }

    pub fn word_add(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.add_carry(a, b, Lit::FALSE, false)
    }

    pub fn word_subtract(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        self.add_carry(a, b, Lit::TRUE, true)
    }

    pub fn word_negate(&mut self, a: &[Lit]) -> Word {
        self.word_subtract(&[Lit::FALSE], a)
    }

    /// `a < b`, signed. A comparator from the low end keeps the gates few.
    pub fn word_less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let wide = a.len().max(b.len());
        let mut less = Lit::FALSE;
        for index in 0..wide {
            let (mut x, mut y) = (bit(a, index), bit(b, index));
            if index + 1 == wide {
                // The sign counts the other way round.
                std::mem::swap(&mut x, &mut y);
            }
            let differ = self.xor(x, y);
            less = self.ite(differ, y, less);
        }
        less
    }

    pub fn word_multiply(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut sum = vec![Lit::FALSE];
        for (shift, factor) in b.iter().enumerate() {
            let mut row = vec![Lit::FALSE; shift];
            row.extend(a.iter().map(|bit| self.and(*bit, *factor)));
            sum = if shift + 1 == b.len() {
                // The sign bit has negative weight.
                self.word_subtract(&sum, &row)
            } else {
                self.word_add(&sum, &row)
            };
        }
        sum
    }

    pub fn word_abs(&mut self, a: &[Lit]) -> Word {
        let negative = self.word_negate(a);
        self.word_ite(sign(a), &negative, a)
    }

    /// Quotient and remainder, rounding towards zero. Meaningless for a divisor of zero.
    pub fn word_divide(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let (dividend, divisor) = (self.word_abs(a), self.word_abs(b));
        let mut remainder = vec![Lit::FALSE];
        let mut quotient = vec![Lit::FALSE; dividend.len()];
        for index in (0..dividend.len()).rev() {
            let mut shifted = vec![dividend[index]];
            shifted.extend(remainder.iter().copied());
            let below = self.word_less(&shifted, &divisor);
            let reduced = self.word_subtract(&shifted, &divisor);
            remainder = self.word_ite(below, &shifted, &reduced);
            quotient[index] = !below;
        }
        quotient.push(Lit::FALSE);
        let quotient = trim(quotient);
        let opposite = self.xor(sign(a), sign(b));
        let negative_quotient = self.word_negate(&quotient);
        let negative_remainder = self.word_negate(&remainder);
        (
            self.word_ite(opposite, &negative_quotient, &quotient),
            self.word_ite(sign(a), &negative_remainder, &remainder),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(word: &[Lit]) -> i64 {
        let mut value = 0_i64;
        for (index, bit) in word.iter().enumerate() {
            assert!(bit.gate() == 0, "constants fold");
            if *bit == Lit::TRUE {
                value += if index + 1 == word.len() {
                    -(1 << index)
                } else {
                    1 << index
                };
            }
        }
        value
    }

    proptest! {
        #[test]
        fn gates_compute_what_integers_compute(a in -70_i64..70, b in -70_i64..70) {
            let mut aig = Aig::default();
            let (x, y) = (constant(a), constant(b));
            prop_assert_eq!(number(&x), a);
            prop_assert_eq!(number(&aig.word_add(&x, &y)), a + b);
            prop_assert_eq!(number(&aig.word_subtract(&x, &y)), a - b);
            prop_assert_eq!(number(&aig.word_multiply(&x, &y)), a * b);
            prop_assert_eq!(number(&aig.word_abs(&x)), a.abs());
            prop_assert_eq!(aig.word_less(&x, &y) == Lit::TRUE, a < b);
            prop_assert_eq!(aig.word_equal(&x, &y) == Lit::TRUE, a == b);
            if b != 0 {
                let (quotient, remainder) = aig.word_divide(&x, &y);
                prop_assert_eq!(number(&quotient), a / b);
                prop_assert_eq!(number(&remainder), a % b);
            }
        }
    }
}
