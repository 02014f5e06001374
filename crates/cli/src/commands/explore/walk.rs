//! A walk through the model: where it is, what can happen there, and the steps so far. Commands are
//! lines of text, so that a person and a script walk alike.

use std::sync::Arc;

use ioco_solve::{Deadline, Outcome};
use ioco_sts::{Action, Direction, Offer, Semantics, SetId, Step, Sts};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::step;

pub const HELP: &str = "\
  NUMBER               take that step, with the values shown
  lock code=17         give a stimulus with these values (or: ?lock(code=17))
  !locked              see a response
  silence              see silence (δ)
  back  reset          undo one step; start again
  again                other values for the parameters
  trace                the steps so far
  states               the states with all their values
  help  quit
";

/// How many states and steps fit on a screen.
const SHOWN: usize = 20;

/// What became of a command.
pub enum Reply {
    Quit,
    Say(String),
    Moved,
}

/// One thing that can happen.
pub struct Choice {
    pub step: Step,
    /// As shown: `?lock(code=17)`, `silence`.
    pub text: String,
    /// The location that it leads to, and the line of the model; nothing for silence.
    pub target: Option<(String, String)>,
}

pub struct Walk {
    semantics: Semantics,
    sts: Arc<Sts>,
    rng: ChaCha8Rng,
    /// The set before the first step, then each step with the set after it.
    history: Vec<(Option<Step>, SetId)>,
    /// What can happen here, in the order of the numbers on the screen.
    choices: Vec<Choice>,
    /// What cannot be offered because the solver does not know values for it.
    undecided: Vec<String>,
}

impl Walk {
    pub fn new(sts: Arc<Sts>, semantics: Semantics, seed: u64) -> Walk {
        let initial = semantics.initial();
        let mut walk = Walk {
            semantics,
            sts,
            rng: ChaCha8Rng::seed_from_u64(seed),
            history: vec![(None, initial)],
            choices: Vec::new(),
            undecided: Vec::new(),
        };
        walk.look();
        walk
    }

    pub fn model(&self) -> &str {
        self.sts.name()
    }

    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Whether the system may stay silent here.
    pub fn may_be_silent(&self) -> bool {
        self.choices
            .iter()
            .any(|choice| choice.step == Step::Quiescence)
    }

    /// The steps so far, as shown.
    pub fn steps(&self) -> impl Iterator<Item = (&Step, String)> {
        let steps = self.history.iter().filter_map(|(step, _)| step.as_ref());
        steps.map(|step| (step, step.show(&self.sts)))
    }

    /// The current states, at most so many, and how many more there are.
    pub fn states(&self, most: usize) -> (Vec<String>, usize) {
        let states = &self.semantics.set(self.here()).states;
        let shown = states
            .iter()
            .take(most)
            .map(|s| s.title(&self.sts))
            .collect();
        (shown, states.len().saturating_sub(most))
    }

    fn here(&self) -> SetId {
        self.history
            .last()
            .map_or(self.semantics.initial(), |(_, set)| *set)
    }

    pub fn command(&mut self, line: &str) -> Reply {
        let word = line.split_whitespace().next().unwrap_or_default();
        match word {
            "" => Reply::Say(String::new()),
            "quit" | "q" | "exit" => Reply::Quit,
            "help" | "h" => Reply::Say(HELP.to_owned()),
            "back" | "b" => {
                if self.history.len() > 1 {
                    self.history.pop();
                }
                self.look();
                Reply::Moved
            }
            "reset" => {
                self.history.truncate(1);
                self.look();
                Reply::Moved
            }
            "again" => {
                self.look();
                Reply::Moved
            }
            "trace" => Reply::Say(self.show_trace()),
            "states" => Reply::Say(self.show_states(usize::MAX)),
            "silence" | "δ" => self.step(Step::Quiescence),
            _ => match word.parse::<usize>() {
                Ok(number) => match self.choices.get(number.wrapping_sub(1)) {
                    Some(choice) => self.step(choice.step.clone()),
                    None => Reply::Say(format!("there is no step {number} here\n")),
                },
                Err(_) => match step::read(line, &self.sts) {
                    Ok((Direction::Stimulus, action)) => self.step(Step::Stimulus(action)),
                    Ok((_, action)) => self.step(Step::Response(action)),
                    Err(wrong) => {
                        let hint = wrong
                            .hint
                            .unwrap_or("type `help` for the commands".to_owned());
                        Reply::Say(format!("{}; {hint}\n", wrong.message))
                    }
                },
            },
        }
    }

    fn step(&mut self, step: Step) -> Reply {
        if let Step::Stimulus(action) = &step
            && !self.semantics.accepts(self.here(), action)
        {
            return Reply::Say(format!("{} is not offered here\n", action.show(&self.sts)));
        }
        match self.semantics.after(self.here(), &step) {
            Some(set) if self.semantics.set(set).is_empty() => {
                let what = step.show(&self.sts);
                Reply::Say(format!(
                    "{what} cannot be judged: not all states of the model are known here\n"
                ))
            }
            Some(set) => {
                self.history.push((Some(step), set));
                self.look();
                Reply::Moved
            }
            None => {
                let what = step.show(&self.sts);
                Reply::Say(format!("FAIL: the model does not allow {what} here\n"))
            }
        }
    }

    /// Finds out what can happen here, with values for the parameters.
    fn look(&mut self) {
        let here = self.here();
        let menu = self.semantics.menu(here);
        self.choices.clear();
        self.undecided.clear();
        for offer in &menu.stimuli {
            self.look_at(offer, Direction::Stimulus);
        }
        for offer in &menu.responses {
            self.look_at(offer, Direction::Response);
        }
        if menu.silence {
            self.choices.push(Choice {
                step: Step::Quiescence,
                text: "silence".to_owned(),
                target: None,
            });
        }
    }

    fn look_at(&mut self, offer: &Offer, direction: Direction) {
        let set = Arc::clone(self.semantics.set(self.here()));
        for offered in &offer.switches {
            let switch = self.sts.switch(offered.switch);
            let valuation = &set.states[offered.state as usize].valuation;
            let deadline = Deadline::steps(20_000);
            let chosen = ioco_solve::choose_values(
                &self.sts,
                offer.label,
                &switch.enabled,
                valuation,
                &mut self.rng,
                &deadline,
            );
            let place = self.sts.show_place(switch.place);
            let target = self.sts.location_title(switch.target).to_owned();
            match chosen {
                Outcome::Sat(values) => {
                    let label = offer.label;
                    let action = Action { label, values };
                    let text = action.show(&self.sts);
                    let step = match direction {
                        Direction::Stimulus => Step::Stimulus(action),
                        _ => Step::Response(action),
                    };
                    let target = Some((target, place));
                    self.choices.push(Choice { step, text, target });
                }
                Outcome::Unsat => {}
                Outcome::Unknown(why) => {
                    let name = self.sts.label(offer.label).marked_name();
                    self.undecided
                        .push(format!("{name}  ──► {target}  {place} ({why})"));
                }
            }
        }
    }

    /// The screen of a walk line by line: states, and what can happen.
    pub fn show(&self) -> String {
        let mut text = self.show_states(SHOWN);
        let mut title = "";
        for (index, choice) in self.choices.iter().enumerate() {
            let number = index + 1;
            let (heading, line) = match (&choice.step, &choice.target) {
                (Step::Quiescence, _) | (_, None) => (title, "silence is allowed".to_owned()),
                (step, Some((target, place))) => {
                    let heading = match step {
                        Step::Stimulus(_) => "you can give",
                        _ => "the system may send",
                    };
                    (heading, format!("{}  ──► {target}  {place}", choice.text))
                }
            };
            if heading != title {
                text.push_str(&format!("  {heading}\n"));
                title = heading;
            }
            text.push_str(&format!("  {number:>3}  {line}\n"));
        }
        for line in &self.undecided {
            text.push_str(&format!("       {line}\n"));
        }
        if !self.may_be_silent() {
            text.push_str("       silence is not allowed: a response must come\n");
        }
        text
    }

    fn show_states(&self, most: usize) -> String {
        let (shown, more) = self.states(most);
        let mut text: String = shown.iter().map(|state| format!("● {state}\n")).collect();
        if more > 0 {
            text.push_str(&format!("  and {more} more states\n"));
        }
        text
    }

    fn show_trace(&self) -> String {
        self.steps()
            .enumerate()
            .map(|(index, (_, shown))| format!("{:>3}  {shown}\n", index + 1))
            .collect()
    }
}
