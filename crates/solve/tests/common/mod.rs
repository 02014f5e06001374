//! Random small problems, and the slow obvious way to solve them: try everything.

use ioco_sts::{
    BinaryOp, EnumId, EnumType, Env, Expr, Function, FunctionId, IntRange, Type, Types, UnaryOp,
    Value,
};
use rand::{Rng, RngExt as _};

pub fn types() -> Types {
    Types {
        enums: vec![EnumType {
            name: "Colour".to_owned(),
            members: vec!["Red".to_owned(), "Green".to_owned(), "Blue".to_owned()],
        }],
        structs: Vec::new(),
    }
}

/// `twice(x) = x + x`.
pub fn functions() -> Vec<Function> {
    vec![Function {
        name: "twice".to_owned(),
        parameters: vec![("x".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::binary(BinaryOp::Add, Expr::Local(0), Expr::Local(0)),
    }]
}

pub struct Problem {
    pub unknowns: Vec<(Type, bool)>,
    pub conditions: Vec<Expr>,
}

impl Problem {
    /// All values of an unknown.
    pub fn values(&self, unknown: usize) -> Vec<Value> {
        let (ty, void) = &self.unknowns[unknown];
        let mut values: Vec<Value> = match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int(range) => (range.min..=range.max).map(Value::Int).collect(),
            Type::Enum(id) => (0..3).map(|m| Value::Enum(*id, m)).collect(),
            other => panic!("{other:?} cannot be enumerated"),
        };
        if *void {
            values.push(Value::Void);
        }
        values
    }

    /// Every assignment that meets all conditions.
    pub fn solutions(&self, functions: &[Function]) -> Vec<Vec<Value>> {
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for unknown in 0..self.unknowns.len() {
            let values = self.values(unknown);
            all = all
                .iter()
                .flat_map(|start| {
                    values.iter().map(move |v| {
                        let mut longer = start.clone();
                        longer.push(v.clone());
                        longer
                    })
                })
                .collect();
        }
        all.retain(|values| self.holds(values, functions));
        all
    }

    pub fn holds(&self, values: &[Value], functions: &[Function]) -> bool {
        let env = Env {
            variables: &[],
            parameters: values,
            functions,
        };
        self.conditions.iter().all(|c| c.holds(env) == Ok(true))
    }
}

/// A random problem over two or three unknowns, some of them at the edge of 64 bits.
pub fn problem(rng: &mut dyn Rng) -> Problem {
    let count = rng.random_range(1..=3);
    let unknowns: Vec<(Type, bool)> = (0..count)
        .map(|_| {
            let ty = match rng.random_range(0..8) {
                0 => Type::Bool,
                1 => Type::Enum(EnumId(0)),
                2 => Type::Int(IntRange {
                    min: i64::MAX - 3,
                    max: i64::MAX,
                }),
                3 => Type::Int(IntRange {
                    min: i64::MIN,
                    max: i64::MIN + 3,
                }),
                _ => Type::Int(IntRange { min: -5, max: 6 }),
            };
            (ty, rng.random_range(0..5) == 0)
        })
        .collect();
    let conditions = (0..rng.random_range(1..=3))
        .map(|_| condition(&unknowns, 3, rng))
        .collect();
    Problem {
        unknowns,
        conditions,
    }
}

fn condition(unknowns: &[(Type, bool)], depth: u32, rng: &mut dyn Rng) -> Expr {
    if depth > 0 {
        match rng.random_range(0..10) {
            0 | 1 => {
                let op = if rng.random() {
                    BinaryOp::And
                } else {
                    BinaryOp::Or
                };
                let left = condition(unknowns, depth - 1, rng);
                return Expr::binary(op, left, condition(unknowns, depth - 1, rng));
            }
            2 => return Expr::unary(UnaryOp::Not, condition(unknowns, depth - 1, rng)),
            3 => {
                let all = [
                    condition(unknowns, depth - 1, rng),
                    condition(unknowns, depth - 1, rng),
                    condition(unknowns, depth - 1, rng),
                ];
                return Expr::If(Box::new(all));
            }
            _ => {}
        }
    }
    // Mostly about an unknown of the right kind, sometimes not.
    match rng.random_range(0..12) {
        0 => match unknown_of(unknowns, |t| *t == Type::Bool, rng) {
            Some(unknown) => unknown,
            None => comparison(unknowns, depth, rng),
        },
        1 => match unknown_of(unknowns, |t| matches!(t, Type::Enum(_)), rng) {
            Some(unknown) => {
                let member = Expr::Const(Value::Enum(EnumId(0), rng.random_range(0..3)));
                Expr::binary(relation(rng), unknown, member)
            }
            None => comparison(unknowns, depth, rng),
        },
        2 => {
            let unknown = Expr::Param(rng.random_range(0..unknowns.len() as u32));
            let op = if rng.random() {
                BinaryOp::Eq
            } else {
                BinaryOp::Ne
            };
            Expr::binary(op, unknown, Expr::Const(Value::Void))
        }
        3 => {
            let subject = term(unknowns, depth.min(1), rng);
            let items = (0..rng.random_range(1..4))
                .map(|_| term(unknowns, 0, rng))
                .collect();
            Expr::InSet(Box::new(subject), items)
        }
        4 => Expr::InRange(Box::new([
            term(unknowns, depth.min(1), rng),
            term(unknowns, 0, rng),
            term(unknowns, 0, rng),
        ])),
        _ => comparison(unknowns, depth, rng),
    }
}

fn comparison(unknowns: &[(Type, bool)], depth: u32, rng: &mut dyn Rng) -> Expr {
    let left = term(unknowns, depth.min(2), rng);
    Expr::binary(relation(rng), left, term(unknowns, depth.min(1), rng))
}

fn relation(rng: &mut dyn Rng) -> BinaryOp {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    [Eq, Ne, Lt, Le, Gt, Ge][rng.random_range(0..6)]
}

fn unknown_of(
    unknowns: &[(Type, bool)],
    fits: impl Fn(&Type) -> bool,
    rng: &mut dyn Rng,
) -> Option<Expr> {
    let fitting: Vec<u32> = (0..unknowns.len() as u32)
        .filter(|u| fits(&unknowns[*u as usize].0))
        .collect();
    if fitting.is_empty() {
        return None;
    }
    Some(Expr::Param(fitting[rng.random_range(0..fitting.len())]))
}

fn term(unknowns: &[(Type, bool)], depth: u32, rng: &mut dyn Rng) -> Expr {
    if depth > 0 {
        match rng.random_range(0..12) {
            0..=5 => {
                use BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
                let op = [Add, Sub, Mul, Div, Rem, Min, Max, Add, Sub][rng.random_range(0..9)];
                let left = term(unknowns, depth - 1, rng);
                return Expr::binary(op, left, term(unknowns, depth - 1, rng));
            }
            6 => {
                let op = if rng.random() {
                    UnaryOp::Neg
                } else {
                    UnaryOp::Abs
                };
                return Expr::unary(op, term(unknowns, depth - 1, rng));
            }
            7 => {
                let all = [
                    comparison(unknowns, 0, rng),
                    term(unknowns, depth - 1, rng),
                    term(unknowns, depth - 1, rng),
                ];
                return Expr::If(Box::new(all));
            }
            8 => return Expr::Call(FunctionId(0), vec![term(unknowns, depth - 1, rng)]),
            9 => {
                let items = (0..3).map(|_| term(unknowns, depth - 1, rng)).collect();
                let index = term(unknowns, depth - 1, rng);
                return Expr::binary(BinaryOp::Index, Expr::Array(items), index);
            }
            _ => {}
        }
    }
    let integer = |t: &Type| matches!(t, Type::Int(_));
    match unknown_of(unknowns, integer, rng) {
        Some(unknown) if rng.random_range(0..3) > 0 => unknown,
        _ => Expr::int(match rng.random_range(0..16) {
            0 => i64::MAX,
            1 => i64::MIN,
            2 => i64::MAX - 1,
            _ => rng.random_range(-6..=8),
        }),
    }
}
