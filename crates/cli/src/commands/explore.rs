//! `ioco explore`: walk the model by hand. Reads commands line by line, so that it works on a
//! terminal and in a script alike.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;

use ioco_campaign::{Answer, Exit, Project};
use ioco_solve::{Deadline, Oracle, Outcome};
use ioco_sts::{Action, Direction, LabelId, Offer, Relation, Semantics, SetId, Step, Sts, Value};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::args;
use crate::{model, output};

const HELP: &str = "\
  NUMBER               take that step, with the values shown
  lock code=17         give a stimulus with these values (or: ?lock)
  !locked              see a response
  silence              see silence (δ)
  back  reset          undo one step; start again
  trace                the steps so far
  states               the states with all their values
  help  quit
";

/// How many states and steps fit on a screen.
const SHOWN: usize = 20;

pub fn run(arguments: &args::Explore) -> Answer {
    let project = Project::find(arguments.model.model.as_deref(), None)?;
    let model = model::load(&arguments.model, &project)?;
    let relation = match arguments.relation {
        args::Relation::Ioco => Relation::Ioco,
        args::Relation::Uioco => Relation::Uioco,
    };
    let mut walk = Walk::new(Arc::clone(&model.sts), relation, arguments.seed);
    let terminal = io::stdin().is_terminal();
    output::print(&walk.show());
    let mut lines = io::stdin().lock().lines();
    loop {
        if terminal {
            output::print("> ");
            let _ = io::stdout().flush();
        }
        let Some(Ok(line)) = lines.next() else { break };
        match walk.command(line.trim()) {
            Reply::Quit => break,
            Reply::Say(text) => output::print(&text),
            Reply::Moved => output::print(&walk.show()),
        }
    }
    Ok(Exit::Conforms)
}

enum Reply {
    Quit,
    Say(String),
    Moved,
}

struct Walk {
    semantics: Semantics,
    sts: Arc<Sts>,
    rng: ChaCha8Rng,
    /// The set before the first step, then each step with the set after it.
    history: Vec<(Option<Step>, SetId)>,
    /// What the numbers on the screen stand for.
    choices: Vec<Step>,
}

impl Walk {
    fn new(sts: Arc<Sts>, relation: Relation, seed: u64) -> Walk {
        let oracle = Oracle::new();
        let semantics = Semantics::new(Arc::clone(&sts), Box::new(oracle), relation);
        let initial = semantics.initial();
        Walk {
            semantics,
            sts,
            rng: ChaCha8Rng::seed_from_u64(seed),
            history: vec![(None, initial)],
            choices: Vec::new(),
        }
    }

    fn here(&self) -> SetId {
        self.history
            .last()
            .map_or(self.semantics.initial(), |(_, set)| *set)
    }

    fn command(&mut self, line: &str) -> Reply {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => Reply::Say(String::new()),
            "quit" | "q" | "exit" => Reply::Quit,
            "help" | "h" => Reply::Say(HELP.to_owned()),
            "back" | "b" => {
                if self.history.len() > 1 {
                    self.history.pop();
                }
                Reply::Moved
            }
            "reset" => {
                self.history.truncate(1);
                Reply::Moved
            }
            "trace" => Reply::Say(self.show_trace()),
            "states" => Reply::Say(self.show_states(usize::MAX)),
            "silence" | "δ" => self.step(Step::Quiescence),
            _ => match word.parse::<usize>() {
                Ok(number) => match self.choices.get(number.wrapping_sub(1)) {
                    Some(step) => self.step(step.clone()),
                    None => Reply::Say(format!("there is no step {number} here\n")),
                },
                Err(_) => match self.read_step(word, rest) {
                    Ok(step) => self.step(step),
                    Err(message) => Reply::Say(format!("{message}\n")),
                },
            },
        }
    }

    fn step(&mut self, step: Step) -> Reply {
        if let Step::Stimulus(action) = &step
            && !self.semantics.accepts(self.here(), action)
        {
            return Reply::Say(format!(
                "{} may not be given here\n",
                action.show(&self.sts)
            ));
        }
        match self.semantics.after(self.here(), &step) {
            Some(set) => {
                self.history.push((Some(step), set));
                Reply::Moved
            }
            None => {
                let what = step.show(&self.sts);
                Reply::Say(format!("FAIL: the model does not allow {what} here\n"))
            }
        }
    }

    /// `lock code=17`, `?lock code=17`, `!locked`.
    fn read_step(&self, word: &str, rest: &str) -> Result<Step, String> {
        let (direction, name) = match (word.strip_prefix('?'), word.strip_prefix('!')) {
            (Some(name), _) => (Direction::Stimulus, name),
            (_, Some(name)) => (Direction::Response, name),
            _ if self.sts.label_named(Direction::Stimulus, word).is_some() => {
                (Direction::Stimulus, word)
            }
            _ => (Direction::Response, word),
        };
        let label = self
            .sts
            .label_named(direction, name)
            .ok_or_else(|| format!("there is no label '{word}'; type `help` for the commands"))?;
        let action = Action {
            label,
            values: self.read_values(label, rest)?,
        };
        Ok(match direction {
            Direction::Stimulus => Step::Stimulus(action),
            _ => Step::Response(action),
        })
    }

    fn read_values(&self, label: LabelId, text: &str) -> Result<Vec<Value>, String> {
        let parameters = &self.sts.label(label).parameters;
        let mut values = vec![Value::Void; parameters.len()];
        for word in text.split_whitespace() {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("write name=value, not '{word}'"))?;
            let position = parameters
                .iter()
                .position(|p| p.name == name)
                .ok_or_else(|| {
                    format!("{} has no parameter '{name}'", self.sts.label(label).name)
                })?;
            let ty = &parameters[position].ty;
            // A bare word is a string or an enum member.
            let quoted = serde_json::to_string(value).unwrap_or_default();
            values[position] = ioco_adapters::read_value(value, ty, self.sts.types())
                .or_else(|_| ioco_adapters::read_value(&quoted, ty, self.sts.types()))
                .map_err(|wrong| format!("{name}: {}", wrong.0))?;
        }
        Ok(values)
    }

    /// The screen: states, and what can happen.
    fn show(&mut self) -> String {
        let mut text = self.show_states(SHOWN);
        let here = self.here();
        let menu = self.semantics.menu(here);
        self.choices.clear();
        for (title, offers, direction) in [
            ("you can give", &menu.stimuli, Direction::Stimulus),
            ("the system may send", &menu.responses, Direction::Response),
        ] {
            if !offers.is_empty() {
                text.push_str(&format!("  {title}\n"));
            }
            for offer in offers {
                self.show_offer(offer, direction, &mut text);
            }
        }
        if menu.silence {
            self.choices.push(Step::Quiescence);
            text.push_str(&format!(
                "  {:>3}  silence is allowed\n",
                self.choices.len()
            ));
        } else {
            text.push_str("       silence is not allowed: a response must come\n");
        }
        text
    }

    fn show_offer(&mut self, offer: &Offer, direction: Direction, text: &mut String) {
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
            let target = &self.sts.location(switch.target).name;
            match chosen {
                Outcome::Sat(values) => {
                    let action = Action {
                        label: offer.label,
                        values,
                    };
                    let shown = action.show(&self.sts);
                    self.choices.push(match direction {
                        Direction::Stimulus => Step::Stimulus(action),
                        _ => Step::Response(action),
                    });
                    text.push_str(&format!(
                        "  {:>3}  {shown}  ──► {target}  {place}\n",
                        self.choices.len()
                    ));
                }
                Outcome::Unsat => {}
                Outcome::Unknown(why) => {
                    let name = self.sts.label(offer.label).marked_name();
                    text.push_str(&format!("       {name}  ──► {target}  {place} ({why})\n"));
                }
            }
        }
    }

    fn show_states(&self, most: usize) -> String {
        let set = self.semantics.set(self.here());
        let mut text = String::new();
        for state in set.states.iter().take(most) {
            text.push_str(&format!("● {}\n", state.show(&self.sts)));
        }
        if set.states.len() > most {
            text.push_str(&format!("  and {} more states\n", set.states.len() - most));
        }
        text
    }

    fn show_trace(&self) -> String {
        let steps = self.history.iter().filter_map(|(step, _)| step.as_ref());
        steps
            .enumerate()
            .map(|(index, step)| format!("{:>3}  {}\n", index + 1, step.show(&self.sts)))
            .collect()
    }
}
