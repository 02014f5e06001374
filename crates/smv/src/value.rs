//! Values of variables: booleans, integers and symbolic constants, and the finite domains they come from.

use rustc_hash::FxHashMap;

/// A symbolic constant such as `idle`; the name is kept in [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Symbol(SymbolId),
}

/// The names of all symbolic constants of a model.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    names: Vec<String>,
    index: FxHashMap<String, SymbolId>,
}

impl Symbols {
    pub fn intern(&mut self, name: &str) -> SymbolId {
        if let Some(id) = self.index.get(name) {
            return *id;
        }
        let id = SymbolId(u32::try_from(self.names.len()).expect("fewer than 2^32 symbols"));
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), id);
        id
    }

    pub fn get(&self, name: &str) -> Option<SymbolId> {
        self.index.get(name).copied()
    }

    pub fn name(&self, id: SymbolId) -> &str {
        &self.names[id.0 as usize]
    }

    pub fn text(&self, value: Value) -> String {
        match value {
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Symbol(id) => self.name(id).to_owned(),
        }
    }
}

/// The values that a variable can have by its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    Bool,
    Range(i64, i64),
    Enum(Enumeration),
}

/// The values of an enumeration, without doubles. In the order of declaration, except that several integers in a row
/// come first, and in order: they are what one computes with, and a bit pattern that counts as they do keeps sums simple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    values: Vec<Value>,
    /// So many at the beginning are neighbouring integers.
    row: usize,
}

/// Fewer integers than this are not counted with.
const SHORTEST_ROW: usize = 5;

impl Enumeration {
    pub fn new(mut values: Vec<Value>) -> Self {
        let mut integers: Vec<i64> = values
            .iter()
            .filter_map(|value| match value {
                Value::Int(number) => Some(*number),
                _ => None,
            })
            .collect();
        integers.sort_unstable();
        let longest = integers
            .chunk_by(|a, b| a.checked_add(1) == Some(*b))
            .max_by_key(|row| row.len())
            .filter(|row| row.len() >= SHORTEST_ROW);
        let Some(longest) = longest else {
            return Self { values, row: 0 };
        };
        let in_row = |value: &Value| match value {
            Value::Int(number) => longest[0] <= *number && *number <= longest[longest.len() - 1],
            _ => false,
        };
        values.sort_by_key(|value| match value {
            Value::Int(number) if in_row(value) => (false, *number),
            _ => (true, 0),
        });
        Self {
            values,
            row: longest.len(),
        }
    }

    /// The first and the last of the neighbouring integers.
    pub fn row(&self) -> Option<(i64, i64)> {
        match (self.values.first(), self.row) {
            (Some(Value::Int(low)), 1..) => Some((*low, *low + self.row as i64 - 1)),
            _ => None,
        }
    }

    fn position(&self, value: Value) -> Option<usize> {
        if let (Some((low, high)), Value::Int(number)) = (self.row(), value)
            && (low..=high).contains(&number)
        {
            return usize::try_from(number - low).ok();
        }
        let others = &self.values[self.row..];
        let position = others.iter().position(|other| *other == value)?;
        Some(self.row + position)
    }
}

impl std::ops::Deref for Enumeration {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.values
    }
}

impl Domain {
    pub fn len(&self) -> u64 {
        match self {
            Self::Bool => 2,
            Self::Range(low, high) => high.abs_diff(*low).saturating_add(1),
            Self::Enum(values) => values.len() as u64,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits needed to tell the values apart.
    pub fn bits(&self) -> u32 {
        let size = self.len();
        if size <= 1 {
            0
        } else {
            64 - (size - 1).leading_zeros()
        }
    }

    pub fn contains(&self, value: Value) -> bool {
        self.position(value).is_some()
    }

    /// Where a value of the domain stands, counted from zero.
    pub fn position(&self, value: Value) -> Option<u64> {
        match (self, value) {
            (Self::Bool, Value::Bool(truth)) => Some(u64::from(truth)),
            (Self::Range(low, high), Value::Int(number)) => (*low..=*high)
                .contains(&number)
                .then(|| number.abs_diff(*low)),
            (Self::Enum(values), value) => values.position(value).map(|position| position as u64),
            _ => None,
        }
    }

    /// The value at a position, counted from zero.
    pub fn value(&self, position: u64) -> Value {
        match self {
            Self::Bool => Value::Bool(position == 1),
            Self::Range(low, _) => Value::Int(low.wrapping_add_unsigned(position)),
            Self::Enum(values) => {
                values[usize::try_from(position).expect("a position in the domain")]
            }
        }
    }

    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(|position| self.value(position))
    }

    pub fn text(&self, symbols: &Symbols) -> String {
        match self {
            Self::Bool => "boolean".to_owned(),
            Self::Range(low, high) => format!("{low}..{high}"),
            Self::Enum(values) => {
                let names: Vec<String> = values.iter().map(|value| symbols.text(*value)).collect();
                format!("{{{}}}", names.join(", "))
            }
        }
    }
}
