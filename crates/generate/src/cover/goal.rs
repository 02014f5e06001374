//! What is to be covered, and what became of it.

use std::fmt;

use ioco_sts::{LocationId, Sts, SwitchId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Goal {
    /// A path visits the location.
    Location(LocationId),
    /// A path takes the switch.
    Switch(SwitchId),
}

impl Goal {
    pub fn locations(sts: &Sts) -> Vec<Goal> {
        (0..sts.locations().len())
            .map(|index| Goal::Location(LocationId::from_index(index)))
            .collect()
    }

    pub fn switches(sts: &Sts) -> Vec<Goal> {
        (0..sts.switches().len())
            .map(|index| Goal::Switch(SwitchId::from_index(index)))
            .collect()
    }

    /// `location Open`, `switch Open ──?close──► Closing (door.aml:14)`.
    pub fn show(self, sts: &Sts) -> String {
        match self {
            Goal::Location(id) => format!("location {}", sts.location(id).name),
            Goal::Switch(id) => {
                let place = sts.show_place(sts.switch(id).place);
                let place = match place.is_empty() {
                    true => String::new(),
                    false => format!(" ({place})"),
                };
                format!("switch {}{place}", sts.show_switch(id))
            }
        }
    }
}

/// Why a goal cannot be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No sequence of switches leads there, whatever the data.
    Structure,
    /// No values at all satisfy its guard.
    Guard,
    /// The values that the variables can have there never satisfy a guard on the way.
    Values,
    /// Every path was walked; there are only so many.
    Exhausted { paths: usize },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Structure => f.write_str("no sequence of switches leads there"),
            Reason::Guard => f.write_str("its guard can never hold"),
            Reason::Values => {
                f.write_str("the values that variables can have never satisfy a guard on the way")
            }
            Reason::Exhausted { paths } => {
                write!(f, "all {paths} different ways through the model were tried")
            }
        }
    }
}

/// How far the search went before it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// All paths of so many moves were tried, as far as the solver could decide them.
    pub depth: u32,
    pub paths: usize,
    /// Moves that the solver could not decide.
    pub undecided: usize,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not found on {} paths of up to {} moves",
            self.paths, self.depth
        )?;
        if self.undecided > 0 {
            write!(f, "; the solver could not decide {} moves", self.undecided)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalVerdict {
    /// By the test of this number.
    Covered {
        test: usize,
    },
    Unreachable(Reason),
    Unknown(Bound),
}
