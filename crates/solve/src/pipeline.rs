//! The parts of the solver by name, and which of them are switched on.
//!
//! A question passes the parts in the order of [`Part::ALL`] until one of them answers. Programs always
//! use all of them; the ablation leaves one out at a time to see what it is worth.

/// A part of the solver. The crate's documentation says what each is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Guards whose solutions are a box, read off without a search.
    Box,
    /// Narrowing of domains, backwards through conditions.
    Narrowing,
    /// Regular languages for conditions on strings.
    Languages,
    /// Elimination over linear conditions.
    Elimination,
    /// A short search close to zero and to the constants.
    Nearby,
    /// A search that learns from conflicts.
    Learning,
    /// A long search everywhere.
    Exhaustive,
    /// Values at which the sides of a comparison are equal.
    Proposals,
}

impl Part {
    /// In the order in which a question meets them.
    pub const ALL: [Part; 8] = [
        Part::Box,
        Part::Narrowing,
        Part::Languages,
        Part::Elimination,
        Part::Nearby,
        Part::Learning,
        Part::Exhaustive,
        Part::Proposals,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Part::Box => "box",
            Part::Narrowing => "narrowing",
            Part::Languages => "languages",
            Part::Elimination => "elimination",
            Part::Nearby => "nearby",
            Part::Learning => "learning",
            Part::Exhaustive => "exhaustive",
            Part::Proposals => "proposals",
        }
    }
}

/// Which parts are switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    parts: u16,
}

impl Pipeline {
    pub const WHOLE: Pipeline = Pipeline { parts: u16::MAX };

    pub fn without(self, part: Part) -> Pipeline {
        Pipeline {
            parts: self.parts & !(1 << part as u16),
        }
    }

    pub fn has(self, part: Part) -> bool {
        self.parts & (1 << part as u16) != 0
    }
}
