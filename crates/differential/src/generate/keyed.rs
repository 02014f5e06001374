//! Random conditions and values with sets and hashes.

use rand::RngExt as _;

use super::collections::{COMPARISONS, is_number};
use super::draft::Ty;
use super::expressions::Names;
use super::{Dice, one_in, pick};

impl Names<'_> {
    /// A set that is written out; an item may be there twice.
    pub fn some_set(&self, dice: &mut Dice, item: &Ty) -> String {
        let items: Vec<String> = (0..dice.random_range(0..4))
            .map(|_| self.constant(dice, item))
            .collect();
        format!("Set[{}]", items.join(", "))
    }

    /// A hash that is written out; of two entries with one key the last counts.
    pub fn some_hash(&self, dice: &mut Dice, key: &Ty, value: &Ty) -> String {
        let entries: Vec<String> = (0..dice.random_range(0..3))
            .map(|_| {
                let (key, value) = (self.constant(dice, key), self.constant(dice, value));
                format!("{key} => {value}")
            })
            .collect();
        format!("{{{}}}", entries.join(", "))
    }

    /// A condition on a set by its operators and methods.
    pub fn about_set(&self, dice: &mut Dice, name: &str, item: &Ty) -> String {
        let own = Ty::Set(Box::new(item.clone()));
        let list = Ty::List(Box::new(item.clone()));
        let some = |dice: &mut Dice| self.constant(dice, &own);
        let one = |dice: &mut Dice| self.term(dice, item);
        let comparison = *pick(dice, &COMPARISONS);
        match dice.random_range(0..20) {
            0 => format!("{} in {name}", one(dice)),
            1 => format!("!({} in {name})", one(dice)),
            2 => format!("{name}.include?({})", one(dice)),
            3 => format!("{name}.subset?({})", self.term(dice, &own)),
            4 => format!("{name}.superset?({})", self.term(dice, &own)),
            5 => {
                let mark = *pick(dice, &["|", "&", "-", "+"]);
                format!("{name} {mark} {} == {}", self.term(dice, &own), some(dice))
            }
            6 => format!("{name}.add({}) == {}", one(dice), some(dice)),
            7 => format!("{name}.delete({}) == {}", one(dice), some(dice)),
            8 => {
                let test = *pick(dice, &["all?", "any?", "none?"]);
                format!("{name}.{test} {}", self.block(dice, item))
            }
            9 => format!(
                "{name}.count {} {}",
                self.block(dice, item),
                self.number_of_items(dice)
            ),
            10 => format!("{name}.select {} == {}", self.block(dice, item), some(dice)),
            11 => format!("{name}.reject {} != {}", self.block(dice, item), some(dice)),
            12 => format!(
                "{name}.map {{ |x| {} }} == {}",
                self.changed_item(dice, item),
                self.constant(dice, &list)
            ),
            13 if is_number(item) => {
                format!("{name}.sum {comparison} {}", dice.random_range(0..6))
            }
            13 | 14 if is_number(item) || *item == Ty::Str => format!(
                "{name}.{} {comparison} {}",
                pick(dice, &["min", "max"]),
                self.constant(dice, item)
            ),
            13..16 => format!(
                "{name}.{} {}",
                pick(dice, &["length", "size"]),
                self.number_of_items(dice)
            ),
            16 => (*pick(dice, &["{}.empty?", "!{}.empty?", "{}.nil?", "!{}.nil?"]))
                .replace("{}", name),
            17 => format!("{name}.to_a == {}", self.constant(dice, &list)),
            18 => format!(
                "{}.to_set == {name}",
                self.variable_of(dice, &list)
                    .unwrap_or_else(|| format!("{name}.map {{ |x| x }}"))
            ),
            _ => format!(
                "{name} {} {}",
                pick(dice, &["==", "!="]),
                self.term(dice, &own)
            ),
        }
    }

    /// A condition on the key and the value of an entry.
    fn entry_block(&self, dice: &mut Dice, key: &Ty, value: &Ty) -> String {
        let condition = match dice.random_range(0..3) {
            0 => self.about(dice, "k", key),
            1 => self.about(dice, "v", value),
            _ => format!(
                "k == {} || v == {}",
                self.term(dice, key),
                self.term(dice, value)
            ),
        };
        format!("{{ |k, v| {condition} }}")
    }

    /// A condition on a hash by its methods.
    pub fn about_hash(&self, dice: &mut Dice, name: &str, key: &Ty, value: &Ty) -> String {
        let own = Ty::Hash(Box::new(key.clone()), Box::new(value.clone()));
        let list = |item: &Ty| Ty::List(Box::new(item.clone()));
        let some = |dice: &mut Dice| self.constant(dice, &own);
        let at = self.term(dice, key);
        let comparison = *pick(dice, &["==", "!="]);
        match dice.random_range(0..20) {
            0 => format!("{at} in {name}"),
            1 => format!("!{name}.key?({at})"),
            2 => format!("{name}[{at}] {comparison} {}", self.term(dice, value)),
            3 => self.about(dice, &format!("{name}[{at}]"), value),
            4 => format!("{name}[{at}] {comparison} :void"),
            5 => format!(
                "{name}.fetch({at}, {}) == {}",
                self.constant(dice, value),
                self.term(dice, value)
            ),
            6 => format!("{name}.keys == {}", self.constant(dice, &list(key))),
            7 => format!("{name}.values == {}", self.constant(dice, &list(value))),
            8 => format!(
                "{name}.with({at}, {}) == {}",
                self.constant(dice, value),
                some(dice)
            ),
            9 => format!("{name}.delete({at}) == {}", some(dice)),
            10 => format!("{name}.merge({}) == {}", self.term(dice, &own), some(dice)),
            11 => {
                let test = *pick(dice, &["all?", "any?", "none?"]);
                format!("{name}.{test} {}", self.entry_block(dice, key, value))
            }
            12 => format!(
                "{name}.count {} {}",
                self.entry_block(dice, key, value),
                self.number_of_items(dice)
            ),
            13 => format!(
                "{name}.select {} == {}",
                self.entry_block(dice, key, value),
                some(dice)
            ),
            14 => format!(
                "{name}.reject {} == {}",
                self.entry_block(dice, key, value),
                some(dice)
            ),
            15 => format!(
                "{name}.map {{ |k, v| k }} == {}",
                self.constant(dice, &list(key))
            ),
            16 if is_number(value) => format!(
                "{name}.sum {{ |k, v| v }} {} {}",
                pick(dice, &COMPARISONS),
                dice.random_range(0..5)
            ),
            16 | 17 => format!("{name}.length {}", self.number_of_items(dice)),
            18 => (*pick(dice, &["{}.empty?", "!{}.empty?", "{}.nil?"])).replace("{}", name),
            _ => format!("{name} {comparison} {}", self.term(dice, &own)),
        }
    }

    /// A set made of the variable of this name. One that does not `grow` may be part of a loop that stays invisible.
    pub fn set_of(&self, dice: &mut Dice, name: &str, item: &Ty, grows: bool) -> String {
        let own = Ty::Set(Box::new(item.clone()));
        let one = match self.variable_of(dice, item) {
            Some(variable) if grows && one_in(dice, 2) => variable,
            _ => self.constant(dice, item),
        };
        match dice.random_range(0..8) {
            0 | 1 if grows => format!("{name}.add({one})"),
            2 if grows => format!("{name} | {}", self.constant(dice, &own)),
            0..3 => format!("{name} & {}", self.constant(dice, &own)),
            3 => format!("{name} - {}", self.constant(dice, &own)),
            4 => format!("{name}.select {}", self.block(dice, item)),
            5 => format!("{name}.reject {}", self.block(dice, item)),
            _ => format!("{name}.delete({one})"),
        }
    }

    /// A hash made of the variable of this name.
    pub fn hash_of(
        &self,
        dice: &mut Dice,
        name: &str,
        key: &Ty,
        value: &Ty,
        grows: bool,
    ) -> String {
        let own = Ty::Hash(Box::new(key.clone()), Box::new(value.clone()));
        let at = self.constant(dice, key);
        match dice.random_range(0..7) {
            0 | 1 if grows => format!("{name}.with({at}, {})", self.constant(dice, value)),
            2 if grows => format!("{name}.merge({})", self.constant(dice, &own)),
            0..4 => format!("{name}.delete({at})"),
            4 => format!("{name}.select {}", self.entry_block(dice, key, value)),
            5 => format!("{name}.reject {}", self.entry_block(dice, key, value)),
            _ => self.constant(dice, &own),
        }
    }

    /// A variable or a parameter of this type.
    fn variable_of(&self, dice: &mut Dice, ty: &Ty) -> Option<String> {
        let variables = self.variables.iter().map(|v| (&v.name, &v.ty));
        let parameters = self.parameters.iter().map(|(name, ty)| (name, ty));
        let fitting: Vec<&String> = variables
            .chain(parameters)
            .filter(|(_, own)| *own == ty)
            .map(|(name, _)| name)
            .collect();
        (!fitting.is_empty()).then(|| (*pick(dice, &fitting)).clone())
    }
}
