//! Limits on work, and the flag that interrupts it.
//!
//! Everything whose cost depends on input (evaluating an expression, closing a state set, searching,
//! reading) runs under one [`Budget`]. Work that reaches a limit ends with the value [`Exhausted`]: a
//! verdict becomes inconclusive, an answer unknown, a model file is refused. The message names the limit
//! and the setting that raises it.
//!
//! A [`Meter`] counts the steps of one piece of work and notices an [`Interrupt`]. There is no clock here: a
//! deadline of work is an interrupt that the edge raises when the time has come, and the token of a wait
//! ([`Until`]) brings its clock along.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod until;

pub use until::{Clock, Grace, SLICE, Stop, Until};

/// All limits, each with its setting's name and its default.
macro_rules! resources {
    ($($(#[$about:meta])* $resource:ident $name:ident = $default:expr,)*) => {
        /// What a limit counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Resource {
            $($(#[$about])* $resource,)*
        }

        impl Resource {
            pub const ALL: [Resource; [$(stringify!($name)),*].len()] = [$(Resource::$resource),*];

            /// The name of its setting: `--limit NAME=N`, or `NAME = N` under `[limits]` in `ioco.toml`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Resource::$resource => stringify!($name),)*
                }
            }
        }

        /// How much one piece of work may use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Budget {
            $($(#[$about])* pub $name: u64,)*
        }

        impl Default for Budget {
            fn default() -> Budget {
                Budget { $($name: $default,)* }
            }
        }

        impl Budget {
            pub fn limit(&self, resource: Resource) -> u64 {
                match resource {
                    $(Resource::$resource => self.$name,)*
                }
            }

            pub fn set(&mut self, resource: Resource, limit: u64) {
                match resource {
                    $(Resource::$resource => self.$name = limit,)*
                }
            }
        }
    };
}

resources! {
    /// Steps of one piece of work: operations of one evaluation, nodes of one search.
    Steps steps = 1_000_000,
    /// The size of one value, one state set or one file.
    Bytes bytes = 64 << 20,
    /// Nesting: of parentheses, of function calls, of values.
    Depth depth = 200,
    /// The states of one state set.
    States states = 4096,
    /// The bytes of one message of a system: a line, an answer, an event.
    Message message = 16 << 20,
    /// Messages that wait to be judged.
    Queue queue = 1024,
    /// The bytes of one message that a failure file keeps.
    Wire wire = 64 << 10,
    /// The bytes of what a system writes to its log in one test that are kept.
    Log log = 64 << 10,
}

impl Budget {
    /// An error when `amount` is over the limit.
    pub fn check(&self, resource: Resource, amount: u64) -> Result<(), Exhausted> {
        let limit = self.limit(resource);
        if amount > limit {
            return Err(Exhausted { resource, limit });
        }
        Ok(())
    }
}

/// Everything that walks an expression recurses once per level, on threads whose stacks have a fixed size.
pub const MAX_DEPTH: u64 = 500;

/// A limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exhausted {
    pub resource: Resource,
    pub limit: u64,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        let name = self.resource.name();
        match self.resource {
            Resource::Steps => write!(f, "this takes more than {limit} steps"),
            Resource::Bytes => write!(f, "this is larger than {limit} bytes"),
            Resource::Depth => write!(f, "this is nested deeper than {limit} levels"),
            Resource::States => write!(f, "there are more than {limit} possible states"),
            Resource::Message => write!(f, "a message of more than {limit} bytes"),
            Resource::Queue => write!(f, "more than {limit} messages wait"),
            Resource::Wire => write!(f, "more than {limit} bytes of one message are not kept"),
            Resource::Log => write!(f, "more than {limit} bytes of one test's log are not kept"),
        }?;
        if self.resource == Resource::Depth && limit >= MAX_DEPTH {
            return f.write_str(", and no setting allows more");
        }
        write!(
            f,
            "; raise the limit with --limit {name}=N, or {name} under [limits] in ioco.toml"
        )
    }
}

impl std::error::Error for Exhausted {}

/// A request to stop, shared between those who make it and the work that ends because of it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
}

impl Interrupt {
    /// Asks the work to stop and to hand over what it has; true if that was asked before.
    pub fn raise(&self) -> bool {
        self.raised.swap(true, Ordering::SeqCst)
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

/// A limit as a size in memory.
pub fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Why metered work ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halted {
    Exhausted(Exhausted),
    Interrupted,
}

impl fmt::Display for Halted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halted::Exhausted(exhausted) => exhausted.fmt(f),
            Halted::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Halted {}

/// Counts the steps of one piece of work.
#[derive(Debug)]
pub struct Meter<'a> {
    limit: u64,
    left: Cell<u64>,
    interrupt: Option<&'a Interrupt>,
}

impl<'a> Meter<'a> {
    pub fn new(budget: &Budget, interrupt: Option<&'a Interrupt>) -> Meter<'a> {
        Meter {
            limit: budget.steps,
            left: Cell::new(budget.steps),
            interrupt,
        }
    }

    /// Counts `steps` more; an error once the limit is passed or the work was interrupted.
    pub fn spend(&self, steps: u64) -> Result<(), Halted> {
        if self.interrupt.is_some_and(Interrupt::is_raised) {
            return Err(Halted::Interrupted);
        }
        let Some(left) = self.left.get().checked_sub(steps) else {
            self.left.set(0);
            return Err(Halted::Exhausted(Exhausted {
                resource: Resource::Steps,
                limit: self.limit,
            }));
        };
        self.left.set(left);
        Ok(())
    }

    /// The steps counted so far.
    pub fn spent(&self) -> u64 {
        self.limit - self.left.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_the_most_that_is_allowed() {
        let budget = Budget {
            states: 3,
            ..Budget::default()
        };
        assert_eq!(budget.check(Resource::States, 3), Ok(()));
        let over = budget.check(Resource::States, 4).unwrap_err();
        assert_eq!(
            over.to_string(),
            "there are more than 3 possible states; raise the limit with --limit states=N, \
             or states under [limits] in ioco.toml"
        );
    }

    #[test]
    fn the_greatest_depth_comes_with_no_advice_to_raise_it() {
        let over = |limit| {
            let resource = Resource::Depth;
            Exhausted { resource, limit }.to_string()
        };
        assert!(over(200).contains("--limit depth=N"));
        assert_eq!(
            over(700),
            "this is nested deeper than 700 levels, and no setting allows more"
        );
    }

    #[test]
    fn a_meter_stays_exhausted() {
        let budget = Budget {
            steps: 2,
            ..Budget::default()
        };
        let meter = Meter::new(&budget, None);
        assert!(meter.spend(2).is_ok());
        assert!(matches!(meter.spend(1), Err(Halted::Exhausted(_))));
        assert!(matches!(meter.spend(1), Err(Halted::Exhausted(_))));
        assert_eq!(meter.spent(), 2);
    }

    #[test]
    fn an_interrupt_ends_metered_work() {
        let interrupt = Interrupt::default();
        let budget = Budget::default();
        let meter = Meter::new(&budget, Some(&interrupt));
        assert!(meter.spend(1).is_ok());
        assert!(!interrupt.raise());
        assert_eq!(meter.spend(1), Err(Halted::Interrupted));
        assert!(interrupt.raise());
    }

    #[test]
    fn every_resource_has_a_setting_of_its_own() {
        let mut budget = Budget::default();
        for (value, resource) in (1..).zip(Resource::ALL) {
            budget.set(resource, value);
        }
        let limits = Resource::ALL.map(|resource| budget.limit(resource));
        assert_eq!(limits, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
