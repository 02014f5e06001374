//! The systems by name, and their mutants.

use crate::System;
use crate::systems::coffee::Figure;
use crate::systems::{
    atm, blockbuster, calculator, coffee, echo, koopman, queue, retransmission, smartdoor,
};

/// A mutant: its name, its bug type and what is wrong with it.
///
/// The bug type is that of the literature: a *state* bug shows wherever its state is reached, a
/// *trace* bug only after certain ways there.
pub type MutantEntry = (&'static str, &'static str, &'static str);

const NAMES: &[&str] = &[
    "smartdoor",
    "koopman",
    "atm",
    "blockbuster",
    "calculator",
    "coffee-1",
    "coffee-2",
    "coffee-8",
    "coffee-9",
    "coffee-10",
    "queue",
    "retransmission",
    "echo",
];

/// The systems that can be built.
pub fn names() -> &'static [&'static str] {
    NAMES
}

fn figure(name: &str) -> Option<Figure> {
    Some(match name {
        "coffee-1" => Figure::Simple,
        "coffee-2" => Figure::Balance,
        "coffee-8" => Figure::Buttons,
        "coffee-9" => Figure::TwoCoins,
        "coffee-10" => Figure::FreeChoice,
        _ => return None,
    })
}

/// The mutants of a system; none for a name that is not known.
pub fn mutants(name: &str) -> &'static [MutantEntry] {
    match name {
        "smartdoor" => smartdoor::MUTANTS,
        "koopman" => koopman::MUTANTS,
        "atm" => atm::MUTANTS,
        "blockbuster" => blockbuster::MUTANTS,
        "calculator" => calculator::MUTANTS,
        "queue" => queue::MUTANTS,
        "retransmission" => retransmission::MUTANTS,
        "echo" => echo::MUTANTS,
        _ => figure(name).map_or(&[], Figure::mutants),
    }
}

/// Builds a system in its initial state: the right one, or one of its mutants.
pub fn system(name: &str, mutant: Option<&str>) -> Result<Box<dyn System>, String> {
    let built = match name {
        "smartdoor" => smartdoor::build(mutant),
        "koopman" => koopman::build(mutant),
        "atm" => atm::build(mutant),
        "blockbuster" => blockbuster::build(mutant),
        "calculator" => calculator::build(mutant),
        "queue" => queue::build(mutant),
        "retransmission" => retransmission::build(mutant),
        "echo" => echo::build(mutant),
        _ => match figure(name) {
            Some(figure) => coffee::build(figure, mutant),
            None => {
                return Err(format!(
                    "unknown system \"{name}\"; there are {}",
                    NAMES.join(", ")
                ));
            }
        },
    };
    built.ok_or_else(|| {
        let known: Vec<&str> = mutants(name).iter().map(|(mutant, _, _)| *mutant).collect();
        format!(
            "system \"{name}\" has no mutant \"{}\"; it has {}",
            mutant.unwrap_or_default(),
            known.join(", ")
        )
    })
}
