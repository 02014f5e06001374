//! Shares of the work of a walk, for walks side by side.

use std::ops::Range;

/// A share of the work, for a walk of its own: the paths that begin in the same way. Moves are
/// numbered at each step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first moves.
    begin: Vec<u32>,
    /// The moves that may come next, where it is not all.
    next: Option<Range<u32>>,
}

impl Share {
    /// Everything.
    pub fn whole() -> Share {
        Share {
            begin: Vec::new(),
            next: None,
        }
    }

    /// What is left of it before the first move.
    pub(super) fn rest(&self) -> RemainingShare<'_> {
        RemainingShare {
            begin: &self.begin,
            next: self.next.as_ref(),
        }
    }
}

/// How paths may begin, and how many moves there are to go on with; none where they end.
pub(super) struct Prefix {
    pub moves: Vec<u32>,
    pub ways: usize,
}

impl Prefix {
    /// Shares of at most `size` ways each. A way that turns out to be infeasible is a small loss.
    pub fn shares(self, size: u32) -> Vec<Share> {
        if self.ways == 0 {
            return vec![Share {
                begin: self.moves,
                next: None,
            }];
        }
        let all = self.ways as u32;
        (0..all)
            .step_by(size.max(1) as usize)
            .map(|first| Share {
                begin: self.moves.clone(),
                next: Some(first..all.min(first.saturating_add(size))),
            })
            .collect()
    }
}

/// What is left of a share at a point of a walk.
#[derive(Clone, Copy)]
pub(super) struct RemainingShare<'s> {
    begin: &'s [u32],
    next: Option<&'s Range<u32>>,
}

impl<'s> RemainingShare<'s> {
    pub const ALL: RemainingShare<'static> = RemainingShare {
        begin: &[],
        next: None,
    };

    pub fn leaves_out(self, number: u32) -> bool {
        match (self.begin.first(), self.next) {
            (Some(first), _) => *first != number,
            (None, Some(next)) => !next.contains(&number),
            (None, None) => false,
        }
    }

    pub fn is_all(self) -> bool {
        self.begin.is_empty() && self.next.is_none()
    }

    /// After one move.
    pub fn after(self) -> RemainingShare<'s> {
        match self.begin {
            [] => RemainingShare::ALL,
            [_, rest @ ..] => RemainingShare {
                begin: rest,
                next: self.next,
            },
        }
    }
}
