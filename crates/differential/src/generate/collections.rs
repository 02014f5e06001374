//! Random conditions and values with the methods of arrays, ranges and strings, and with values of
//! structures.

use rand::RngExt as _;

use super::draft::{Ty, VarDraft};
use super::expressions::Names;
use super::{Dice, one_in, pick};

pub(super) const COMPARISONS: [&str; 6] = ["==", "==", "!=", "<", ">=", "<="];
const PARTS: [&str; 6] = ["a", "b", "ab", "c", "", "a.b"];

pub(super) fn is_number(ty: &Ty) -> bool {
    ty.is_integer() || *ty == Ty::Dec
}

impl Names<'_> {
    /// A value of `Pair`, with a field left out now and then.
    pub fn record(&self, dice: &mut Dice) -> String {
        let Some((one, two)) = self.pair else {
            return ":void".to_owned();
        };
        let (one, two) = (self.constant(dice, one), self.constant(dice, two));
        match dice.random_range(0..6) {
            0 => format!("Pair(one: {one})"),
            1 => format!("Pair(two: {two}, one: {one})"),
            _ => format!("Pair(one: {one}, two: {two})"),
        }
    }

    /// A condition on the item of a block.
    pub(super) fn block(&self, dice: &mut Dice, item: &Ty) -> String {
        let condition = match one_in(dice, 3) {
            // Something around the block is read.
            true => format!("x == {}", self.term(dice, item)),
            false => self.about(dice, "x", item),
        };
        format!("{{ |x| {condition} }}")
    }

    /// What `map` makes of an item, in the item's own type.
    pub(super) fn changed_item(&self, dice: &mut Dice, item: &Ty) -> String {
        match item {
            Ty::Small(..) | Ty::Int => match dice.random_range(0..3) {
                0 => "x + 1".to_owned(),
                1 => "x * 2".to_owned(),
                _ => "x / 2".to_owned(),
            },
            Ty::Dec => (*pick(dice, &["x / 2", "x + 1", "x * 0.5"])).to_owned(),
            Ty::Str => "x + \"a\"".to_owned(),
            _ => format!("if {} then x else x", self.about(dice, "x", item)),
        }
    }

    pub(super) fn number_of_items(&self, dice: &mut Dice) -> String {
        let comparison = *pick(dice, &COMPARISONS);
        format!("{comparison} {}", dice.random_range(0..3))
    }

    /// A condition on an array by its methods.
    pub fn about_list(&self, dice: &mut Dice, name: &str, item: &Ty) -> String {
        let whole = Ty::List(Box::new(item.clone()));
        let some = |dice: &mut Dice| self.constant(dice, &whole);
        let one = |dice: &mut Dice| self.term(dice, item);
        let small = dice.random_range(0..3);
        let comparison = *pick(dice, &COMPARISONS);
        match dice.random_range(0..20) {
            0 => format!("{name}.all? {}", self.block(dice, item)),
            1 => format!("{name}.any? {}", self.block(dice, item)),
            2 => format!("{name}.none? {}", self.block(dice, item)),
            3 => format!(
                "{name}.count {} {}",
                self.block(dice, item),
                self.number_of_items(dice)
            ),
            4 if is_number(item) => {
                format!("{name}.sum {comparison} {}", self.constant(dice, &Ty::Int))
            }
            5 if is_number(item) => format!(
                "{name}.sum {{ |x| {} }} {comparison} {}",
                self.changed_item(dice, item),
                dice.random_range(0..5)
            ),
            4 | 5 => format!("{name}.length {}", self.number_of_items(dice)),
            6 => format!(
                "{name}.map {{ |x| {} }} == {}",
                self.changed_item(dice, item),
                some(dice)
            ),
            7 => format!("{name}.select {} == {}", self.block(dice, item), some(dice)),
            8 => format!("{name}.reject {} != {}", self.block(dice, item), some(dice)),
            9 if is_number(item) || *item == Ty::Str => format!(
                "{name}.{} {comparison} {}",
                pick(dice, &["min", "max", "first", "last"]),
                self.constant(dice, item)
            ),
            9 => format!("{name}.first == {}", one(dice)),
            10 => format!("{name}.include?({})", one(dice)),
            11 => format!("{} in {name}", one(dice)),
            12 => (*pick(dice, &["{}.empty?", "!{}.empty?", "{}.nil?", "!{}.nil?"]))
                .replace("{}", name),
            13 => format!(
                "{name}.{}({small}) == {}",
                pick(dice, &["take", "drop"]),
                some(dice)
            ),
            14 => format!("{name}[{small}..2] == {}", some(dice)),
            15 => match dice.random_range(0..4) {
                0 => format!("{name} - {} == {}", some(dice), some(dice)),
                1 => format!("{name}.delete({}) == {}", one(dice), some(dice)),
                2 => format!("{name}.delete_at({small}) == {}", some(dice)),
                _ => format!("{name}.with({small}, {}) == {}", one(dice), some(dice)),
            },
            16 => {
                let test = *pick(dice, &["all?", "any?", "none?"]);
                format!("(0..{small}).{test} {{ |i| {name}[i] == {} }}", one(dice))
            }
            17 => match one_in(dice, 2) {
                true => format!("{} <~ {name}", some(dice)),
                false => format!("{name} <~ {}", self.term(dice, &whole)),
            },
            18 if one_in(dice, 2) => {
                // Also ranges without numbers, and counts below zero.
                let (low, high) = (dice.random_range(0..3), dice.random_range(0..3));
                match dice.random_range(0..4) {
                    0 => format!("({low}..{high}).min == {low}"),
                    1 => format!("({low}..{high}).max >= {name}.length"),
                    2 => format!("{name}.take({low} - {high}) == {}", some(dice)),
                    _ => format!("{name}[{low} - {high}..{low}] == {}", some(dice)),
                }
            }
            18 => format!("{name}.all? {{ |x| {name}.count {{ |y| y == x }} == 1 }}"),
            _ => format!("{name} == {}", self.term(dice, &whole)),
        }
    }

    /// An array made of the variable of this name. One that does not `grow` may be part of a loop that
    /// nobody sees.
    pub fn list_of(&self, dice: &mut Dice, name: &str, item: &Ty, grows: bool) -> String {
        let small = dice.random_range(0..2);
        let one = self.constant(dice, item);
        match dice.random_range(0..9) {
            0 if grows => format!("{name}.map {{ |x| {} }}", self.changed_item(dice, item)),
            1 if grows => format!("{name} + [{one}]"),
            0 | 1 => format!("{name}.drop({small})"),
            2 => format!("{name}.select {}", self.block(dice, item)),
            3 => format!("{name}.reject {}", self.block(dice, item)),
            4 => format!("{name} - [{one}]"),
            5 => format!("{name}.with({small}, {one})"),
            6 => format!("{name}.delete_at({small})"),
            7 => format!("{name}[0..{small}]"),
            _ => format!("{name}.take({small})"),
        }
    }

    /// A number made of the array of this name.
    pub fn number_of(&self, dice: &mut Dice, name: &str, item: &Ty) -> String {
        match dice.random_range(0..5) {
            0 if item.is_integer() => format!("{name}.sum"),
            1 if item.is_integer() => format!("{name}.{}", pick(dice, &["min", "max"])),
            2 => format!("{name}.count {}", self.block(dice, item)),
            3 => format!("(1..{name}.length).sum {{ |i| i }}"),
            _ => format!("{name}.length"),
        }
    }

    /// A condition on a string by its methods.
    pub fn about_text(&self, dice: &mut Dice, name: &str) -> String {
        let part = *pick(dice, &PARTS);
        match dice.random_range(0..6) {
            0 => format!("{name}.start_with?(\"{part}\")"),
            1 => format!("{name}.end_with?(\"{part}\")"),
            2 => format!("{name}.include?(\"{part}\")"),
            3 => format!("!{name}.start_with?(\"{part}\")"),
            4 => format!("{name}.length {}", self.number_of_items(dice)),
            _ => (*pick(dice, &["{}.empty?", "!{}.empty?"])).replace("{}", name),
        }
    }

    /// A part of a variable and its new value, as the two sides of an update with the sign.
    pub fn assigned_part(
        &self,
        dice: &mut Dice,
        variable: &VarDraft,
        grows: bool,
    ) -> Option<(String, String)> {
        let name = &variable.name;
        match &variable.ty {
            Ty::List(item) => {
                let at = dice.random_range(0..2);
                if grows && is_number(item) && one_in(dice, 2) {
                    return Some((format!("{name}[{at}] +"), "1".to_owned()));
                }
                Some((format!("{name}[{at}]"), self.constant(dice, item)))
            }
            Ty::Hash(key, value) => {
                let at = self.constant(dice, key);
                if grows && is_number(value) && one_in(dice, 3) {
                    return Some((format!("{name}[{at}] +"), "1".to_owned()));
                }
                Some((format!("{name}[{at}]"), self.constant(dice, value)))
            }
            Ty::Struct => {
                let (one, two) = self.pair?;
                if grows && is_number(one) && one_in(dice, 3) {
                    return Some((format!("{name}.one +"), "1".to_owned()));
                }
                Some(match one_in(dice, 2) {
                    true => (format!("{name}.one"), self.constant(dice, one)),
                    false => (format!("{name}.two"), self.constant(dice, two)),
                })
            }
            _ => None,
        }
    }
}
