//! What is to be covered, and what became of it.

use std::fmt;

use ioco_sts::{LocationId, Sts, SwitchId};

use super::conditions::{count, place};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Goal {
    /// A path visits the location.
    Location(LocationId),
    /// A path takes the switch.
    Switch(SwitchId),
    /// The guard of the switch is evaluated and comes out like this.
    Decision { switch: SwitchId, outcome: bool },
    /// A condition of the guard, numbered from left to right, comes out like this.
    Condition {
        switch: SwitchId,
        number: u32,
        outcome: bool,
    },
    /// It comes out like this, and thereby decides the outcome of the guard (masking MC/DC).
    Independent {
        switch: SwitchId,
        number: u32,
        outcome: bool,
    },
}

impl Goal {
    /// The goals of a criterion by its name; `None` where there is no such criterion.
    pub fn of_criterion(name: &str, sts: &Sts) -> Option<Vec<Goal>> {
        match name {
            "locations" => Some(Goal::locations(sts)),
            "switches" => Some(Goal::switches(sts)),
            "decisions" => Some(Goal::decisions(sts)),
            "conditions" => Some(Goal::conditions(sts)),
            "mcdc" => Some(Goal::mcdc(sts)),
            _ => None,
        }
    }

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

    /// Both outcomes of every guard that is not a constant.
    pub fn decisions(sts: &Sts) -> Vec<Goal> {
        let guarded = Goal::switches(sts)
            .into_iter()
            .filter_map(|goal| match goal {
                Goal::Switch(id) => Some(id).filter(|id| count(&sts.switch(*id).guard) > 0),
                _ => None,
            });
        guarded
            .flat_map(|switch| [true, false].map(|outcome| Goal::Decision { switch, outcome }))
            .collect()
    }

    /// Both outcomes of every condition of every guard.
    pub fn conditions(sts: &Sts) -> Vec<Goal> {
        Goal::per_condition(sts, |switch, number, outcome| Goal::Condition {
            switch,
            number,
            outcome,
        })
    }

    /// Both outcomes of every condition of every guard, each deciding the guard.
    pub fn mcdc(sts: &Sts) -> Vec<Goal> {
        Goal::per_condition(sts, |switch, number, outcome| Goal::Independent {
            switch,
            number,
            outcome,
        })
    }

    fn per_condition(sts: &Sts, goal: impl Fn(SwitchId, u32, bool) -> Goal) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (index, switch) in sts.switches().iter().enumerate() {
            let id = SwitchId::from_index(index);
            for number in 0..count(&switch.guard) as u32 {
                goals.extend([true, false].map(|outcome| goal(id, number, outcome)));
            }
        }
        goals
    }

    /// `location Open`, `switch Open ──?close──► Closing (door.aml:14)`, `condition code > 0 is
    /// false, of switch …`, with the names of the model text: files keep it.
    pub fn show(self, sts: &Sts) -> String {
        let name = |id| sts.location(id).name.clone();
        self.shown(sts, name, |id| sts.show_switch(id))
    }

    /// The same for people: `location locked, after ?unlock` instead of `location _6`.
    pub fn title(self, sts: &Sts) -> String {
        let name = |id| sts.location_title(id).to_owned();
        self.shown(sts, name, |id| sts.switch_title(id))
    }

    fn shown(
        self,
        sts: &Sts,
        name: impl Fn(LocationId) -> String,
        show: impl Fn(SwitchId) -> String,
    ) -> String {
        let switched = |id: SwitchId| {
            let place = sts.show_place(sts.switch(id).place);
            let place = match place.is_empty() {
                true => String::new(),
                false => format!(" ({place})"),
            };
            format!("switch {}{place}", show(id))
        };
        let text = |id: SwitchId, expr: &ioco_sts::Expr| {
            ioco_sts::show_expr(sts, sts.switch(id).gate.label(), expr)
        };
        let numbered = |id: SwitchId, number: u32| {
            let place = place(&sts.switch(id).guard, number as usize);
            place.map_or_else(String::new, |place| text(id, place.condition))
        };
        match self {
            Goal::Location(id) => format!("location {}", name(id)),
            Goal::Switch(id) => switched(id),
            Goal::Decision { switch, outcome } => {
                let guard = text(switch, &sts.switch(switch).guard);
                format!("guard {guard} is {outcome}, {}", switched(switch))
            }
            Goal::Condition {
                switch,
                number,
                outcome,
            } => {
                let condition = numbered(switch, number);
                format!("condition {condition} is {outcome}, {}", switched(switch))
            }
            Goal::Independent {
                switch,
                number,
                outcome,
            } => {
                let condition = numbered(switch, number);
                format!(
                    "condition {condition} is {outcome} and decides, {}",
                    switched(switch)
                )
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
    /// No values at all make the condition come out like this in a step that is possible there.
    Condition,
    /// The values that the variables can have there never satisfy a guard on the way.
    Values,
    /// What it takes contradicts everything that can come before, a few steps back.
    Before,
    /// Every path was walked; there are only so many.
    Exhausted { paths: usize },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Structure => f.write_str("no sequence of switches leads there"),
            Reason::Guard => f.write_str("its guard can never hold"),
            Reason::Condition => f.write_str("no step that is possible there makes it so"),
            Reason::Values => {
                f.write_str("the values that variables can have never satisfy a guard on the way")
            }
            Reason::Before => f.write_str("its conditions contradict every possible path to it"),
            Reason::Exhausted { paths } => {
                write!(f, "all {paths} different ways through the model were tried")
            }
        }
    }
}

/// How far the search went before it was given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// All paths of so many moves were tried, as far as the solver could decide them.
    pub depth: u32,
    pub paths: usize,
    /// Moves that the solver could not decide.
    pub undecided: usize,
    /// The search was stopped.
    pub interrupted: bool,
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
        if self.interrupted {
            f.write_str("; interrupted")?;
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
