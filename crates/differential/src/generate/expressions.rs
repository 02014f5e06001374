//! Random conditions and values, in the forms that the reference's pools can decide.

use rand::RngExt as _;

use super::draft::{Ty, VarDraft};
use super::{Dice, one_in, pick};

/// The names that an expression may use.
pub struct Names<'a> {
    pub variables: &'a [VarDraft],
    pub parameters: &'a [(String, Ty)],
    pub pair: Option<&'a (Ty, Ty)>,
    pub functions: bool,
}

const PATTERNS: [&str; 10] = [
    "^[0-9]+$",
    "^a",
    "b$",
    "^[ab]{1,2}$",
    "^(ab|c)+$",
    "x",
    "^$",
    "^[^a]b?$",
    "^a?b?c?$",
    "^a|b$",
];
const TEXTS: [&str; 7] = ["", "a", "b", "ab", "c", "7", "zq"];
const DECIMALS: [&str; 8] = ["0.5", "1.0", "2.50", "3", "1", "-1.5", "0.25", "3.00"];

impl Names<'_> {
    /// A value of the type without parameters.
    pub fn constant(&self, dice: &mut Dice, ty: &Ty) -> String {
        match ty {
            Ty::Bool => pick(dice, &["true", "false"]).to_string(),
            Ty::Small(low, high) => dice.random_range(*low..=*high).to_string(),
            Ty::Int => dice.random_range(-2..6).to_string(),
            Ty::Dec => pick(dice, &DECIMALS).to_string(),
            Ty::Str => format!("\"{}\"", pick(dice, &TEXTS)),
            Ty::Enum => pick(dice, &["Red", "Green", "Blue"]).to_string(),
            Ty::Struct => self.record(dice),
            Ty::List(item) => {
                let count = dice.random_range(0..3);
                let items: Vec<String> = (0..count).map(|_| self.constant(dice, item)).collect();
                format!("[{}]", items.join(", "))
            }
            Ty::Set(item) => self.some_set(dice, item),
            Ty::Hash(key, value) => self.some_hash(dice, key, value),
        }
    }

    fn variable(&self, dice: &mut Dice, wanted: impl Fn(&Ty) -> bool) -> Option<String> {
        let fitting: Vec<&VarDraft> = self.variables.iter().filter(|v| wanted(&v.ty)).collect();
        (!fitting.is_empty()).then(|| pick(dice, &fitting).name.clone())
    }

    /// A term of the type without parameters.
    pub fn term(&self, dice: &mut Dice, ty: &Ty) -> String {
        let like = |other: &Ty| match ty {
            Ty::Small(..) | Ty::Int => other.is_integer(),
            Ty::Dec => *other == Ty::Dec || other.is_integer(),
            _ => other == ty,
        };
        let variable = match one_in(dice, 2) {
            true => self.variable(dice, like),
            false => None,
        };
        let list = self.variable(dice, |other| matches!(other, Ty::List(_)));
        match (variable, ty) {
            (Some(name), Ty::Small(..) | Ty::Int) => match dice.random_range(0..8) {
                0 => format!("{name} + 1"),
                1 => format!("{name} - 1"),
                2 => format!("{name} / 2"),
                3 => format!("{name} % 3"),
                4 => format!("max({name}, 2)"),
                5 if self.functions => format!("clip({name}, 3)"),
                _ => name,
            },
            (Some(name), Ty::Dec) => match dice.random_range(0..8) {
                0 => format!("{name} + 0.5"),
                1 => format!("{name} / 2.0"),
                2 => format!("min({name}, 1.5) / 2"),
                3 => format!("(if {name} > 1 then 3 else 0.5) / 2"),
                4 if self.functions => format!("half({name})"),
                _ => name,
            },
            (Some(name), Ty::Str) => match one_in(dice, 4) {
                true => format!("{name} + \"a\""),
                false => name,
            },
            (Some(name), Ty::List(item)) if one_in(dice, 3) => {
                self.list_of(dice, &name, item, true)
            }
            (Some(name), Ty::Set(item)) if one_in(dice, 3) => self.set_of(dice, &name, item, true),
            (Some(name), Ty::Hash(key, value)) if one_in(dice, 3) => {
                self.hash_of(dice, &name, key, value, true)
            }
            (Some(name), _) => name,
            (None, Ty::Small(..) | Ty::Int) if one_in(dice, 5) && list.is_some() => {
                let name = list.unwrap_or_default();
                let known = self.variables.iter().find(|v| v.name == name);
                match known.map(|v| &v.ty) {
                    Some(Ty::List(item)) if !one_in(dice, 3) => self.number_of(dice, &name, item),
                    _ => format!("length({name})"),
                }
            }
            (None, Ty::Dec) if one_in(dice, 3) => {
                let choices = [
                    "min(3, 4.5) / 2",
                    "[3, 0.5][0] / 2",
                    "(1 + 2.0) / 4",
                    "1.5 * 2",
                ];
                let with_function = ["half(3)", "half(1.0)"];
                match self.functions && one_in(dice, 3) {
                    true => pick(dice, &with_function).to_string(),
                    false => pick(dice, &choices).to_string(),
                }
            }
            (None, _) => self.constant(dice, ty),
        }
    }

    /// A condition on a parameter (or any name) of this type. Most are false for `:void`.
    pub fn about(&self, dice: &mut Dice, name: &str, ty: &Ty) -> String {
        if one_in(dice, 25) {
            return format!("{name} {} :void", pick(dice, &["==", "!="]));
        }
        let comparison = *pick(dice, &["==", "==", "!=", "<", "<=", ">", ">="]);
        match ty {
            Ty::Bool => format!("{name} == {}", self.term(dice, ty)),
            Ty::Small(..) | Ty::Int => match dice.random_range(0..14) {
                0 => {
                    let low = dice.random_range(-1..3);
                    format!("{name} in {low}..{}", low + dice.random_range(0..3))
                }
                1 => format!(
                    "{name} in [{}, {}]",
                    self.constant(dice, ty),
                    self.term(dice, ty)
                ),
                2 => format!("{name} - 1 == {}", self.term(dice, ty)),
                3 => format!("{name} * 2 == {}", self.term(dice, ty)),
                4 => format!("{name} % 2 == {}", dice.random_range(0..2)),
                5 => format!("abs({name}) {comparison} {}", dice.random_range(0..3)),
                6 => format!(
                    "{name} == {} || {name} == {}",
                    self.term(dice, ty),
                    self.constant(dice, ty)
                ),
                7 => format!("min({name}, 2) == {}", dice.random_range(0..3)),
                8 => match self.condition(dice) {
                    Some(condition) => format!("if {condition} then {name} == 1 else {name} == 2"),
                    None => format!("!({name} < {})", self.term(dice, ty)),
                },
                9 => match self.like(dice, name, ty) {
                    Some(other) => format!("{name} {comparison} {other}"),
                    None => format!("10 / {name} == {}", dice.random_range(1..6)),
                },
                _ => format!("{name} {comparison} {}", self.term(dice, ty)),
            },
            Ty::Dec => match dice.random_range(0..10) {
                0 => format!("{name} in 0.5..{}", pick(dice, &["1", "2.5", "0.5"])),
                1 => format!("{name} in [{}, 2]", self.term(dice, ty)),
                2 => format!("{name} - 1 == {}", self.term(dice, ty)),
                3 => format!("{name} * 2 == {}", self.term(dice, ty)),
                4 => format!("{name} / 2 {comparison} {}", self.constant(dice, ty)),
                5 => match self.like(dice, name, ty) {
                    Some(other) => format!("{name} {comparison} {other}"),
                    None => format!("{name} > 0 && {name} < {}", self.constant(dice, ty)),
                },
                _ => format!("{name} {comparison} {}", self.term(dice, ty)),
            },
            Ty::Str => match dice.random_range(0..11) {
                9 | 10 => self.about_text(dice, name),
                0 | 1 => format!("{name} =~ /{}/", pick(dice, &PATTERNS)),
                2 => format!("length({name}) {comparison} {}", dice.random_range(0..4)),
                3 => format!(
                    "{name} in [{}, {}]",
                    self.constant(dice, ty),
                    self.term(dice, ty)
                ),
                4 => format!("{name} + \"b\" == \"{}b\"", pick(dice, &TEXTS)),
                5 => match self.like(dice, name, ty) {
                    Some(other) => format!("{name} {} {other}", pick(dice, &["==", "!="])),
                    None => format!("!({name} =~ /{}/)", pick(dice, &PATTERNS)),
                },
                6 => format!("{name} != {}", self.term(dice, ty)),
                _ => format!("{name} == {}", self.term(dice, ty)),
            },
            Ty::Enum => match dice.random_range(0..4) {
                0 => format!("{name} in [{}, Blue]", self.term(dice, ty)),
                1 => format!("{name} {comparison} {}", self.constant(dice, ty)),
                _ => format!(
                    "{name} {} {}",
                    pick(dice, &["==", "!="]),
                    self.term(dice, ty)
                ),
            },
            Ty::Struct => {
                let Some((one, two)) = self.pair else {
                    return format!("{name} != :void");
                };
                match dice.random_range(0..4) {
                    0 => self.about(dice, &format!("{name}.one"), one),
                    1 => self.about(dice, &format!("{name}.two"), two),
                    2 => format!(
                        "{} && {}",
                        self.about_simply(dice, &format!("{name}.one"), one),
                        self.about_simply(dice, &format!("{name}.two"), two)
                    ),
                    _ => match self.variable(dice, |other| *other == Ty::Struct) {
                        Some(other) if one_in(dice, 2) => format!("{name} == {other}"),
                        _ => format!("{name} == {}", self.record(dice)),
                    },
                }
            }
            Ty::List(item) => match dice.random_range(0..14) {
                7.. => self.about_list(dice, name, item),
                0 => format!("length({name}) {comparison} {}", dice.random_range(0..3)),
                1 => self.about(dice, &format!("{name}[0]"), item),
                2 => format!("last({name}) == {}", self.term(dice, item)),
                3 => format!(
                    "{name} in [[{}], [{}]]",
                    self.constant(dice, item),
                    self.constant(dice, item)
                ),
                _ => format!("{name} == {}", self.term(dice, ty)),
            },
            Ty::Set(item) => self.about_set(dice, name, item),
            Ty::Hash(key, value) => self.about_hash(dice, name, key, value),
        }
    }

    fn about_simply(&self, dice: &mut Dice, name: &str, ty: &Ty) -> String {
        format!("{name} == {}", self.term(dice, ty))
    }

    /// A condition that ties string parameters together, or one of them to a variable.
    pub fn texts_together(&self, dice: &mut Dice) -> Option<String> {
        let own: Vec<&String> = self
            .parameters
            .iter()
            .filter(|(_, ty)| *ty == Ty::Str)
            .map(|(name, _)| name)
            .collect();
        let (first, second) = match own.as_slice() {
            [] => return None,
            [alone] => ((*alone).clone(), self.term(dice, &Ty::Str)),
            [first, second, ..] if one_in(dice, 2) => ((*first).clone(), (*second).clone()),
            [first, second, ..] => ((*second).clone(), (*first).clone()),
        };
        let pattern = *pick(dice, &PATTERNS);
        let other = *pick(dice, &PATTERNS);
        Some(match dice.random_range(0..8) {
            0 | 1 => format!("{first} == {second} && {second} =~ /{pattern}/"),
            2 => format!("{first} =~ /{pattern}/ && {first} == {second}"),
            3 => format!("{first} == {second} && {first} =~ /{pattern}/ && {second} =~ /{other}/"),
            4 => format!("{first} =~ /{pattern}/ && !({first} =~ /{other}/)"),
            5 => format!("{first} != {second} && {first} =~ /{pattern}/"),
            6 => format!(
                "{first} == {second} && length({second}) == {}",
                dice.random_range(0..4)
            ),
            _ => format!(
                "({first} == {second} || {first} == \"{}\") && {second} =~ /{pattern}/",
                pick(dice, &TEXTS)
            ),
        })
    }

    /// Another parameter of the same type.
    fn like(&self, dice: &mut Dice, name: &str, ty: &Ty) -> Option<String> {
        let others: Vec<&String> = self
            .parameters
            .iter()
            .filter(|(other, other_ty)| other != name && other_ty == ty)
            .map(|(other, _)| other)
            .collect();
        (!others.is_empty()).then(|| (*pick(dice, &others)).clone())
    }

    /// A condition on the variables alone.
    pub fn condition(&self, dice: &mut Dice) -> Option<String> {
        if self.variables.is_empty() {
            return None;
        }
        let variable = pick(dice, self.variables);
        let alone = Names {
            parameters: &[],
            variables: self.variables,
            ..*self
        };
        let simple = matches!(variable.ty, Ty::Small(..) | Ty::Int);
        Some(match simple && one_in(dice, 2) {
            true => format!(
                "{} {} {}",
                variable.name,
                pick(dice, &["<", ">=", "=="]),
                dice.random_range(0..4)
            ),
            false => alone.about(dice, &variable.name, &variable.ty),
        })
    }

    /// A new value for a variable, from the parameters where that is possible.
    pub fn assigned(&self, dice: &mut Dice, variable: &VarDraft, grows: bool) -> String {
        let fitting: Vec<&(String, Ty)> = self
            .parameters
            .iter()
            .filter(|(_, ty)| match &variable.ty {
                Ty::Small(..) | Ty::Int => ty.is_integer(),
                Ty::Dec => *ty == Ty::Dec || ty.is_integer(),
                own => ty == own,
            })
            .collect();
        if !fitting.is_empty() && !one_in(dice, 3) {
            let (name, _) = pick(dice, &fitting);
            return match variable.ty {
                Ty::Small(..) if one_in(dice, 3) => format!("{} + {name}", variable.name),
                _ => name.clone(),
            };
        }
        let name = &variable.name;
        match &variable.ty {
            Ty::Small(..) => match dice.random_range(0..4) {
                0 | 1 => format!("{name} + 1"),
                2 => format!("{name} - 1"),
                _ => self.constant(dice, &variable.ty),
            },
            Ty::Int if grows => format!("{name} + 1"),
            Ty::Dec if grows => format!("{name} + {}", pick(dice, &["0.5", "1", "2.50"])),
            Ty::Str if grows && one_in(dice, 2) => format!("{name} + \"a\""),
            Ty::List(item) if one_in(dice, 2) => self.list_of(dice, name, item, grows),
            Ty::List(item) if grows => {
                let own: Vec<&(String, Ty)> = self
                    .parameters
                    .iter()
                    .filter(|(_, ty)| ty == &**item)
                    .collect();
                match own.is_empty() {
                    true => format!("{name} + [{}]", self.constant(dice, item)),
                    false => format!("{name} + [{}]", pick(dice, &own).0),
                }
            }
            Ty::Set(item) if !one_in(dice, 3) => self.set_of(dice, name, item, grows),
            Ty::Hash(key, value) if !one_in(dice, 3) => self.hash_of(dice, name, key, value, grows),
            Ty::Struct if one_in(dice, 6) => ":void".to_owned(),
            ty => self.constant(dice, ty),
        }
    }
}
