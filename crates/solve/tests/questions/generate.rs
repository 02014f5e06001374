//! Random questions, of one kind each, so that the answers can be counted by kind.

use ioco_sts::{BinaryOp, Expr, FunctionId, IntRange, Pattern, Type, UnaryOp, Value};
use rand::{Rng, RngExt as _};
use rust_decimal::Decimal;

use super::{COLOUR, PAIR, Question, function};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Bounded,
    Unbounded,
    Decimal,
    Str,
    /// String conditions as people write them: names, codes, prefixes, lengths.
    Login,
    Member,
    Array,
    Struct,
    Mixed,
    /// Guards as models have them.
    Guard,
    /// Several linear conditions over a few integers.
    Linear,
    /// Dates and times, with integers.
    Moment,
    /// Arrays of anything, arrays included, with unknowns of other types.
    Nested,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::Boolean,
        Kind::Bounded,
        Kind::Unbounded,
        Kind::Decimal,
        Kind::Str,
        Kind::Login,
        Kind::Member,
        Kind::Array,
        Kind::Struct,
        Kind::Mixed,
        Kind::Guard,
        Kind::Linear,
        Kind::Moment,
        Kind::Nested,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Boolean => "booleans",
            Kind::Bounded => "bounded integers",
            Kind::Unbounded => "integers",
            Kind::Decimal => "decimals",
            Kind::Str => "strings",
            Kind::Login => "usual strings",
            Kind::Member => "enums",
            Kind::Array => "arrays",
            Kind::Struct => "structs",
            Kind::Mixed => "mixed",
            Kind::Guard => "guards",
            Kind::Linear => "linear",
            Kind::Moment => "dates and times",
            Kind::Nested => "nested arrays",
        }
    }
}

/// Patterns, with strings that match some of them.
pub const PATTERNS: &[&str] = &[
    "^[0-9]+$",
    "^[a-z]+$",
    "a",
    "^a",
    "b$",
    "^(ab)*$",
    "^a{2,3}$",
    "^[^a]*$",
    "^(a|b0)?$",
    "0.b",
    "^$",
    "^[a-c]{1,2}[0-9]$",
    "^.{2}$",
    "(?i)^AB?$",
    "^[0-9][0-9]?$",
    "^[a-z0-9]+-[a-z]+$",
    "a|^b",
    "[b-z]",
    r"\ba",
    "(?m)^b$",
];

const TEXTS: &[&str] = &["", "a", "b", "ab", "0", "a0", "aa", "b0", "a-b", "ü"];

struct Maker<'r> {
    unknowns: Vec<(Type, bool)>,
    rng: &'r mut dyn Rng,
}

pub fn small() -> Type {
    Type::Int(IntRange { min: -4, max: 5 })
}

/// A type without parts.
fn simple(rng: &mut dyn Rng) -> Type {
    match rng.random_range(0..7) {
        0 => Type::Bool,
        1 => Type::INTEGER,
        2 => Type::Decimal,
        3 => Type::Str,
        4 => Type::Enum(COLOUR),
        5 => Type::Date,
        _ => small(),
    }
}

pub fn question(kind: Kind, rng: &mut dyn Rng) -> Question {
    match kind {
        Kind::Guard => return super::shapes::guard(rng),
        Kind::Linear => return super::shapes::linear(rng),
        _ => {}
    }
    let count = rng.random_range(1..=3);
    // Parameters of labels may all be unset; unknowns of a path seldom.
    let void = rng.random_range(0..3) == 0;
    let unknowns: Vec<(Type, bool)> = (0..count)
        .map(|index| {
            let second = index > 0 && rng.random_range(0..4) == 0;
            let ty = match kind {
                Kind::Boolean => Type::Bool,
                Kind::Bounded => small(),
                Kind::Unbounded => Type::INTEGER,
                Kind::Decimal if second => small(),
                Kind::Decimal => Type::Decimal,
                Kind::Str if second => small(),
                Kind::Str | Kind::Login => Type::Str,
                Kind::Member => Type::Enum(COLOUR),
                Kind::Array if second => small(),
                Kind::Array => Type::Array(Box::new(match rng.random_range(0..4) {
                    0 => Type::Str,
                    1 => Type::Decimal,
                    _ => small(),
                })),
                Kind::Struct if second => Type::Str,
                Kind::Struct => Type::Struct(PAIR),
                Kind::Moment if second => small(),
                Kind::Moment => match rng.random_range(0..2) {
                    0 => Type::Date,
                    _ => Type::Time,
                },
                Kind::Nested if second => simple(rng),
                Kind::Nested => Type::Array(Box::new(match rng.random_range(0..6) {
                    0 => Type::Array(Box::new(simple(rng))),
                    1 => Type::Struct(PAIR),
                    2 => Type::Bool,
                    3 => Type::Enum(COLOUR),
                    _ => simple(rng),
                })),
                Kind::Mixed | Kind::Guard | Kind::Linear => match rng.random_range(0..7) {
                    0 => Type::Bool,
                    1 => small(),
                    2 => Type::INTEGER,
                    3 => Type::Decimal,
                    4 => Type::Str,
                    5 => Type::Enum(COLOUR),
                    _ => Type::Struct(PAIR),
                },
            };
            (ty, void)
        })
        .collect();
    let mut maker = Maker { unknowns, rng };
    let conditions = (0..maker.below(3) + 1)
        .map(|_| match kind {
            Kind::Login => maker.usual(),
            _ => maker.boolean(3),
        })
        .collect();
    Question {
        conditions,
        unknowns: maker.unknowns,
    }
}

fn text(text: &str) -> Expr {
    Expr::Const(Value::str(text))
}

impl Maker<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// An unknown of a type, if there is one.
    fn unknown(&mut self, fits: impl Fn(&Type) -> bool) -> Option<Expr> {
        let fitting: Vec<u32> = (0u32..)
            .zip(&self.unknowns)
            .filter(|(_, (ty, _))| fits(ty))
            .map(|(u, _)| u)
            .collect();
        (!fitting.is_empty()).then(|| Expr::Param(fitting[self.below(fitting.len())]))
    }

    fn relation(&mut self) -> BinaryOp {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        self.pick(&[Eq, Ne, Lt, Le, Gt, Ge, Eq])
    }

    fn pattern(&mut self) -> Pattern {
        let pattern = self.pick(PATTERNS);
        Pattern::new(pattern).expect("a regular expression")
    }

    /// One condition on strings as people write them.
    fn usual(&mut self) -> Expr {
        let string = |t: &Type| *t == Type::Str;
        let one = self.unknown(string).expect("a string");
        let other = self.unknown(string).expect("a string");
        let condition = match self.below(10) {
            0 | 1 => Expr::binary(BinaryOp::Eq, one, other),
            2 => Expr::binary(BinaryOp::Ne, one, other),
            3 | 4 => Expr::Matches(Box::new(one), self.pattern()),
            5 => {
                let length = Expr::unary(UnaryOp::Length, one);
                let bound = self.below(10) as i64;
                Expr::binary(self.relation(), length, Expr::int(bound))
            }
            6 => Expr::binary(
                self.pick(&[BinaryOp::Eq, BinaryOp::Ne]),
                one,
                self.constant(),
            ),
            7 => {
                let items = (0..self.below(3) + 1).map(|_| self.constant()).collect();
                Expr::InSet(Box::new(one), items)
            }
            8 => {
                let joined = Expr::binary(BinaryOp::Add, self.constant(), other);
                Expr::binary(BinaryOp::Eq, one, joined)
            }
            _ => {
                let sides = [self.usual(), self.usual()];
                let op = self.pick(&[BinaryOp::And, BinaryOp::Or]);
                return Expr::Binary(op, Box::new(sides));
            }
        };
        if self.below(4) == 0 {
            return Expr::unary(UnaryOp::Not, condition);
        }
        condition
    }

    fn constant(&mut self) -> Expr {
        text(self.pick(TEXTS))
    }

    fn boolean(&mut self, depth: u32) -> Expr {
        let deeper = depth.saturating_sub(1);
        if depth > 0 {
            match self.below(9) {
                0 => {
                    return Expr::binary(BinaryOp::And, self.boolean(deeper), self.boolean(deeper));
                }
                1 => return Expr::binary(BinaryOp::Or, self.boolean(deeper), self.boolean(deeper)),
                2 => return Expr::unary(UnaryOp::Not, self.boolean(deeper)),
                3 if self.below(2) == 0 => {
                    let all = [
                        self.boolean(deeper),
                        self.boolean(deeper),
                        self.boolean(deeper),
                    ];
                    return Expr::If(Box::new(all));
                }
                4 if self.below(3) == 0 => {
                    let op = self.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                    return Expr::binary(op, self.boolean(deeper), self.boolean(deeper));
                }
                _ => {}
            }
        }
        // About an unknown, most of the time: one picked at random says which type to speak of.
        let about = self.below(self.unknowns.len());
        let (ty, may_be_void) = self.unknowns[about].clone();
        if may_be_void && self.below(8) == 0 {
            let op = self.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
            return Expr::binary(op, Expr::Param(about as u32), Expr::Const(Value::Void));
        }
        match ty {
            Type::Bool => match self.below(3) {
                0 => Expr::Const(Value::Bool(self.rng.random())),
                _ => Expr::Param(about as u32),
            },
            Type::Str => self.about_strings(deeper),
            Type::Array(item) => self.about_arrays(&item, deeper),
            Type::Struct(_) => match self.below(8) {
                0 => {
                    let op = self.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                    let left = self.value(&ty, 1);
                    let right = self.value(&ty, 1);
                    Expr::binary(op, left, right)
                }
                1..=3 => self.about_strings(deeper),
                4 | 5 => self.about_numbers(&Type::Decimal, deeper),
                _ => self.about_numbers(&small(), deeper),
            },
            _ => self.about_numbers(&ty, deeper),
        }
    }

    /// Numbers and members of enums.
    fn about_numbers(&mut self, ty: &Type, depth: u32) -> Expr {
        let depth = depth.min(2);
        match self.below(6) {
            0 => {
                let subject = self.value(ty, depth);
                let items = (0..self.below(3) + 1).map(|_| self.value(ty, 0)).collect();
                Expr::InSet(Box::new(subject), items)
            }
            1 => Expr::InRange(Box::new([
                self.value(ty, depth),
                self.value(ty, 0),
                self.value(ty, 0),
            ])),
            _ => {
                let (left, right) = (self.value(ty, depth), self.value(ty, depth.min(1)));
                Expr::binary(self.relation(), left, right)
            }
        }
    }

    fn about_strings(&mut self, depth: u32) -> Expr {
        let depth = depth.min(2);
        match self.below(10) {
            0..=2 => Expr::Matches(Box::new(self.string(depth)), self.pattern()),
            3 => {
                let length = Expr::unary(UnaryOp::Length, self.string(depth));
                let bound = self.integer(0);
                Expr::binary(self.relation(), length, bound)
            }
            4 => {
                let items = (0..self.below(3) + 1).map(|_| self.string(0)).collect();
                Expr::InSet(Box::new(self.string(depth)), items)
            }
            5 => Expr::Call(FunctionId(function::SHORT), vec![self.string(depth)]),
            6 => {
                let (left, right) = (self.string(depth), self.string(0));
                Expr::binary(self.relation(), left, right)
            }
            _ => {
                let (left, right) = (self.string(depth), self.string(depth.min(1)));
                let op = self.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Eq]);
                Expr::binary(op, left, right)
            }
        }
    }

    fn about_arrays(&mut self, item: &Type, depth: u32) -> Expr {
        let array = Type::Array(Box::new(item.clone()));
        let depth = depth.min(1);
        match self.below(6) {
            0 | 1 => {
                let length = Expr::unary(UnaryOp::Length, self.value(&array, depth));
                let bound = self.integer(0);
                Expr::binary(self.relation(), length, bound)
            }
            2 => {
                let (left, right) = (self.value(&array, depth), self.value(&array, 1));
                let op = self.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                Expr::binary(op, left, right)
            }
            _ => {
                let one = if self.below(3) == 0 {
                    Expr::unary(UnaryOp::Last, self.value(&array, depth))
                } else {
                    let index = match self.below(3) {
                        0 => self.integer(0),
                        _ => Expr::int(self.below(3) as i64),
                    };
                    Expr::binary(BinaryOp::Index, self.value(&array, depth), index)
                };
                let op = match item {
                    Type::Array(_) | Type::Struct(_) | Type::Bool => BinaryOp::Eq,
                    _ => self.relation(),
                };
                let other = self.value(item, depth);
                Expr::binary(op, one, other)
            }
        }
    }

    fn value(&mut self, ty: &Type, depth: u32) -> Expr {
        match ty {
            Type::Bool => self.boolean(depth),
            Type::Int(_) => self.integer(depth),
            Type::Date | Type::Time => self.moment(ty, depth),
            Type::Decimal => self.decimal(depth),
            Type::Str => self.string(depth),
            Type::Enum(_) => {
                if depth > 0 && self.below(4) == 0 {
                    let op = self.pick(&[BinaryOp::Min, BinaryOp::Max]);
                    return Expr::binary(op, self.value(ty, 0), self.value(ty, 0));
                }
                match self.unknown(|t| t == ty) {
                    Some(unknown) if self.below(3) > 0 => unknown,
                    _ => Expr::Const(Value::Enum(COLOUR, self.below(3) as u32)),
                }
            }
            Type::Array(item) => {
                if depth > 0 && self.below(4) == 0 {
                    return Expr::binary(BinaryOp::Add, self.value(ty, 0), self.value(ty, 0));
                }
                match self.unknown(|t| t == ty) {
                    Some(unknown) if depth == 0 || self.below(3) > 0 => unknown,
                    _ => {
                        let items = (0..self.below(3)).map(|_| self.value(item, 0)).collect();
                        Expr::Array(items)
                    }
                }
            }
            Type::Struct(_) => match self.unknown(|t| t == ty) {
                Some(unknown) if self.below(3) > 0 => unknown,
                _ => {
                    let fields = [
                        Value::Int(self.below(3) as i64),
                        Value::str(self.pick(TEXTS)),
                        match self.below(6) {
                            0 => Value::Void,
                            1 => Value::Int(3),
                            _ => Value::Decimal(self.number()),
                        },
                    ];
                    Expr::Const(Value::Struct(PAIR, fields.into()))
                }
            },
        }
    }

    fn field(&mut self, index: u32) -> Option<Expr> {
        let of = self.unknown(|t| matches!(t, Type::Struct(_)))?;
        Some(Expr::Field(Box::new(of), index))
    }

    fn string(&mut self, depth: u32) -> Expr {
        if depth > 0 {
            match self.below(8) {
                0 | 1 => {
                    let (left, right) = (self.string(depth - 1), self.string(depth - 1));
                    return Expr::binary(BinaryOp::Add, left, right);
                }
                2 => {
                    return Expr::If(Box::new([
                        self.boolean(0),
                        self.string(depth - 1),
                        self.string(depth - 1),
                    ]));
                }
                3 => return Expr::Call(FunctionId(function::GREET), vec![self.string(depth - 1)]),
                4 if self.below(3) == 0 => {
                    let op = self.pick(&[BinaryOp::Min, BinaryOp::Max]);
                    return Expr::binary(op, self.string(0), self.string(0));
                }
                _ => {}
            }
        }
        if self.below(3) == 0 {
            return self.constant();
        }
        let unknown = self.unknown(|t| *t == Type::Str);
        match unknown.or_else(|| self.field(1)) {
            Some(unknown) => unknown,
            None => self.constant(),
        }
    }

    fn integer(&mut self, depth: u32) -> Expr {
        if depth > 0 {
            let deeper = depth - 1;
            match self.below(14) {
                0..=5 => {
                    use BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
                    let op = self.pick(&[Add, Sub, Mul, Div, Rem, Min, Max, Add, Sub]);
                    let (left, right) = (self.integer(deeper), self.integer(deeper));
                    return Expr::binary(op, left, right);
                }
                6 => {
                    let op = self.pick(&[UnaryOp::Neg, UnaryOp::Abs]);
                    return Expr::unary(op, self.integer(deeper));
                }
                7 => {
                    return Expr::If(Box::new([
                        self.boolean(0),
                        self.integer(deeper),
                        self.integer(deeper),
                    ]));
                }
                8 => {
                    let of = self.pick(&[function::TWICE, function::CLIP]);
                    return Expr::Call(FunctionId(of), vec![self.integer(deeper)]);
                }
                9 => {
                    let arguments = vec![self.integer(deeper), self.integer(deeper)];
                    return Expr::Call(FunctionId(function::RATIO), arguments);
                }
                10 => {
                    let items = (0..2).map(|_| self.integer(deeper)).collect();
                    return Expr::binary(BinaryOp::Index, Expr::Array(items), self.integer(deeper));
                }
                11 if self.unknown(|t| *t == Type::Str).is_some() => {
                    return Expr::unary(UnaryOp::Length, self.string(deeper));
                }
                _ => {}
            }
        }
        if self.below(3) > 0 {
            let unknown = self.unknown(|t| matches!(t, Type::Int(_)));
            if let Some(unknown) = unknown.or_else(|| self.field(0)) {
                return unknown;
            }
        }
        Expr::int(match self.below(24) {
            0 => i64::MAX,
            1 => i64::MIN,
            2 => i64::MAX - 1,
            3 => 1_000_000_000_000,
            _ => self.rng.random_range(-5..=7),
        })
    }

    /// A date or a time; both are whole numbers.
    fn moment(&mut self, ty: &Type, depth: u32) -> Expr {
        if depth > 0 && self.below(4) > 0 {
            let one = self.moment(ty, depth - 1);
            return match self.below(5) {
                0 => Expr::binary(BinaryOp::Sub, one, self.integer(0)),
                1 => Expr::binary(BinaryOp::Add, one, self.integer(depth - 1)),
                2 => {
                    let op = self.pick(&[BinaryOp::Min, BinaryOp::Max]);
                    Expr::binary(op, one, self.moment(ty, 0))
                }
                _ => one,
            };
        }
        match self.unknown(|t| t == ty) {
            Some(unknown) if self.below(3) > 0 => unknown,
            _ => Expr::int(self.pick(&[-1, 0, 1, 19_700, 20_000, 20_001, 1_700_000_000_000])),
        }
    }

    fn number(&mut self) -> Decimal {
        match self.below(24) {
            0 => Decimal::MAX,
            1 => Decimal::MIN,
            2 => Decimal::new(1, 28),
            3 => Decimal::new(12345, 3),
            4..=9 => Decimal::from(self.rng.random_range(-4..=4_i64)),
            10 => Decimal::new(300, 2),
            _ => Decimal::new(self.rng.random_range(-60..=60_i64), 1),
        }
    }

    fn decimal(&mut self, depth: u32) -> Expr {
        if depth > 0 {
            let deeper = depth - 1;
            match self.below(10) {
                0..=4 => {
                    use BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
                    let op = self.pick(&[Add, Sub, Mul, Div, Rem, Min, Max, Add, Sub]);
                    let left = self.decimal(deeper);
                    let right = match self.below(4) {
                        0 => self.integer(deeper.min(1)),
                        _ => self.decimal(deeper),
                    };
                    return match self.below(4) {
                        0 => Expr::binary(op, right, left),
                        _ => Expr::binary(op, left, right),
                    };
                }
                5 => {
                    let op = self.pick(&[UnaryOp::Neg, UnaryOp::Abs]);
                    return Expr::unary(op, self.decimal(deeper));
                }
                6 => {
                    return Expr::If(Box::new([
                        self.boolean(0),
                        self.decimal(deeper),
                        self.decimal(deeper),
                    ]));
                }
                _ => {}
            }
        }
        if self.below(3) > 0 {
            let unknown = self.unknown(|t| *t == Type::Decimal);
            if let Some(unknown) = unknown.or_else(|| self.field(2)) {
                return unknown;
            }
        }
        match self.below(6) {
            0 => Expr::int(self.rng.random_range(-4..=4)),
            _ => Expr::Const(Value::Decimal(self.number())),
        }
    }
}
