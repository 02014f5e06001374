//! Functions that ioco writes: what a block or an operation on arrays comes to.
//!
//! Expressions know functions and recursion, and that is enough: `xs.all? { |x| x > y }` is a function
//! of `xs`, a range of indexes and `y` that asks the two halves of the range. So evaluation, solvers and
//! files need no new form, and an array of a thousand items nests calls ten deep.
//!
//! The name of such a function is how a call of it is written, with `⟨n⟩` for the n-th argument:
//! `⟨0⟩.all? { |x| x > y }`. No function of a model can have such a name. An array is an argument once,
//! so that it is computed once: the range of indexes belongs to a function behind the one that is shown.

use ioco_sts::{BinaryOp, Expr, Function, FunctionId, Type, UnaryOp};

/// The functions that were written so far.
pub struct Generated<'a> {
    /// Those of a finished model: they can be used again.
    pub known: &'a [Function],
    /// The number of the first new one.
    pub first: usize,
    /// `None` where a model cannot be given new ones.
    pub new: Option<&'a mut Vec<Function>>,
}

impl Generated<'_> {
    /// The function of this meaning; `None` where there is none and none can be added.
    pub(super) fn function(
        &mut self,
        name: &str,
        parameters: &[(String, Type)],
        result: &Type,
        body: impl Fn(FunctionId) -> Expr,
    ) -> Option<FunctionId> {
        let new = self.new.as_deref().map_or(&[][..], Vec::as_slice);
        let known = self.known.iter().enumerate();
        let all = known.chain((self.first..).zip(new));
        for (index, function) in all {
            let id = FunctionId::from_index(index);
            if function.name == name
                && function.parameters == parameters
                && function.result == *result
                && function.body == body(id)
            {
                return Some(id);
            }
        }
        let new = self.new.as_deref_mut()?;
        let id = FunctionId::from_index(self.first + new.len());
        new.push(Function {
            name: name.to_owned(),
            parameters: parameters.to_vec(),
            result: result.clone(),
            body: body(id),
        });
        Some(id)
    }
}

/// What a function goes over: the items of an array, or the numbers of a range.
pub struct Items {
    /// The first arguments of the call: the array, or both ends of the range.
    arguments: Vec<Expr>,
    /// The first parameters of the function: the array and two indexes, or both ends.
    parameters: Vec<(String, Type)>,
    pub item: Type,
}

impl Items {
    pub fn of_array(array: Expr, item: Type) -> Items {
        Items {
            arguments: vec![array],
            parameters: vec![
                ("xs".to_owned(), Type::Array(Box::new(item.clone()))),
                ("low".to_owned(), Type::INTEGER),
                ("high".to_owned(), Type::INTEGER),
            ],
            item,
        }
    }

    pub fn of_range(low: Expr, high: Expr) -> Items {
        Items {
            arguments: vec![low, high],
            parameters: vec![
                ("low".to_owned(), Type::INTEGER),
                ("high".to_owned(), Type::INTEGER),
            ],
            item: Type::INTEGER,
        }
    }

    /// How a call begins when it is shown.
    fn shown(&self) -> &'static str {
        match self.arguments.len() {
            1 => "⟨0⟩",
            _ => "(⟨0⟩..⟨1⟩)",
        }
    }

    /// The item in question, inside the function.
    pub fn item(&self) -> Expr {
        match self.arguments.len() {
            1 => index(Expr::Local(0), Expr::Local(1)),
            _ => Expr::Local(0),
        }
    }

    /// The position of the first parameter after those of the items.
    pub fn own(&self) -> u32 {
        self.parameters.len() as u32
    }

    /// The same in the call that is shown.
    pub fn own_shown(&self) -> usize {
        self.arguments.len()
    }
}

/// A function over items: its value for none, for one, and for two halves.
pub struct Fold {
    /// How it is written after the items: `.sum`.
    pub shown: String,
    pub result: Type,
    /// `None` where no items are an error.
    pub none: Option<Expr>,
    pub one: Expr,
    pub join: fn(Expr, Expr) -> Expr,
    /// What the function is given besides its items: values, names and types.
    pub given: Vec<(Expr, String, Type)>,
}

impl Generated<'_> {
    pub fn fold(&mut self, items: Items, fold: Fold) -> Option<Expr> {
        let name = format!("{}{}", items.shown(), fold.shown);
        let (own, shown) = (items.own(), items.own_shown());
        let mut parameters = items.parameters;
        let given = fold.given.iter();
        parameters.extend(given.map(|(_, name, ty)| (name.clone(), ty.clone())));
        let (low, high) = (Expr::Local(own - 2), Expr::Local(own - 1));
        let body = |id| {
            let again = |from: Expr, to: Expr| {
                let mut arguments = locals(0..parameters.len());
                arguments[own as usize - 2] = from;
                arguments[own as usize - 1] = to;
                Expr::Call(id, arguments)
            };
            let distance = Expr::binary(BinaryOp::Sub, high.clone(), low.clone());
            let half = Expr::binary(BinaryOp::Div, distance, Expr::int(2));
            let middle = Expr::binary(BinaryOp::Add, low.clone(), half);
            let after = Expr::binary(BinaryOp::Add, middle.clone(), Expr::int(1));
            let halves = (fold.join)(again(low.clone(), middle), again(after, high.clone()));
            let compared = |op| Expr::binary(op, low.clone(), high.clone());
            let none = fold.none.clone().unwrap_or_else(missing);
            choice(
                compared(BinaryOp::Gt),
                none,
                choice(compared(BinaryOp::Eq), fold.one.clone(), halves),
            )
        };
        let given = fold.given.iter().map(|(value, ..)| value.clone());
        let arguments = items.arguments.into_iter().chain(given).collect();
        if shown > 1 {
            let id = self.function(&name, &parameters, &fold.result, body)?;
            return Some(Expr::Call(id, arguments));
        }
        let behind = format!("{name} from ⟨1⟩ to ⟨2⟩");
        let behind = self.function(&behind, &parameters, &fold.result, body)?;
        parameters.drain(1..3);
        let xs = Expr::Local(0);
        let mut inner = vec![xs.clone(), Expr::int(0), last_index(xs)];
        inner.extend(locals(1..parameters.len()));
        let body = Expr::Call(behind, inner);
        let id = self.function(&name, &parameters, &fold.result, |_| body.clone())?;
        Some(Expr::Call(id, arguments))
    }

    /// The function behind parts of arrays: of an array and the first and last index of the part.
    fn slice(&mut self, item: &Type) -> Option<FunctionId> {
        let items = Items {
            // Not shown: as for a range, the ends are given.
            arguments: locals(0..3),
            ..Items::of_array(Expr::Local(0), item.clone())
        };
        let fold = Fold {
            shown: " of ⟨2⟩".to_owned(),
            result: Type::Array(Box::new(item.clone())),
            none: Some(Expr::Array(Vec::new())),
            one: Expr::Array(vec![index(Expr::Local(0), Expr::Local(1))]),
            join: joined,
            given: Vec::new(),
        };
        match self.fold(items, fold)? {
            Expr::Call(id, _) => Some(id),
            _ => None,
        }
    }

    /// `xs[low..high]`, `xs.take(n)` and `xs.drop(n)`, as far as there are items.
    pub fn part(&mut self, name: &str, array: Expr, item: &Type, given: Vec<Expr>) -> Option<Expr> {
        let slice = self.slice(item)?;
        let (xs, n) = (Expr::Local(0), Expr::Local(1));
        let last = last_index(xs.clone());
        let (shown, low, high) = match name {
            "take" => {
                let high = Expr::binary(BinaryOp::Sub, n, Expr::int(1));
                ("⟨0⟩.take(⟨1⟩)", Expr::int(0), high)
            }
            "drop" => ("⟨0⟩.drop(⟨1⟩)", n, last.clone()),
            _ => ("⟨0⟩[⟨1⟩..⟨2⟩]", n, Expr::Local(2)),
        };
        let high = Expr::binary(BinaryOp::Min, high, last);
        let first = match name {
            "take" => Expr::Local(1),
            _ => low.clone(),
        };
        let whole = Type::Array(Box::new(item.clone()));
        let mut parameters = vec![("xs".to_owned(), whole.clone())];
        parameters.extend(given.iter().map(|_| ("n".to_owned(), Type::INTEGER)));
        // A negative count or index has no value; its error is the one to report.
        let within = Expr::binary(BinaryOp::Ge, first.clone(), Expr::int(0));
        let outside = Expr::Array(vec![index(xs.clone(), first)]);
        let body = choice(within, Expr::Call(slice, vec![xs, low, high]), outside);
        let id = self.function(shown, &parameters, &whole, |_| body.clone())?;
        Some(Expr::Call(id, [array].into_iter().chain(given).collect()))
    }

    /// The array with another item at an index, or, without a value, without that item. An index outside
    /// of the array has no value.
    pub fn changed(
        &mut self,
        array: Expr,
        item: &Type,
        at: Expr,
        value: Option<Expr>,
    ) -> Option<Expr> {
        let slice = self.slice(item)?;
        let (xs, i) = (Expr::Local(0), Expr::Local(1));
        let before = Expr::binary(BinaryOp::Sub, i.clone(), Expr::int(1));
        let after = Expr::binary(BinaryOp::Add, i.clone(), Expr::int(1));
        let before = Expr::Call(slice, vec![xs.clone(), Expr::int(0), before]);
        let after = Expr::Call(slice, vec![xs.clone(), after, last_index(xs.clone())]);
        let whole = Type::Array(Box::new(item.clone()));
        let mut parameters = vec![
            ("xs".to_owned(), whole.clone()),
            ("i".to_owned(), Type::INTEGER),
        ];
        let (name, head) = match value {
            None => ("⟨0⟩.delete_at(⟨1⟩)", before),
            Some(_) => {
                parameters.push(("value".to_owned(), item.clone()));
                let new = Expr::Array(vec![Expr::Local(2)]);
                ("⟨0⟩.with(⟨1⟩, ⟨2⟩)", joined(before, new))
            }
        };
        // Without an item at the index, this has no value: its error is the one to report.
        let missing = Expr::Array(vec![index(xs.clone(), i.clone())]);
        let within = Expr::InRange(Box::new([i, Expr::int(0), last_index(xs)]));
        let body = choice(within, joined(head, after), missing);
        let id = self.function(name, &parameters, &whole, |_| body.clone())?;
        Some(Expr::Call(
            id,
            [array, at].into_iter().chain(value).collect(),
        ))
    }

    /// `a <~ b`: the items of the first are the first items of the second.
    pub fn is_prefix(&mut self, arrays: [Expr; 2], items: [&Type; 2]) -> Option<Expr> {
        let slice = self.slice(items[1])?;
        let (a, b) = (Expr::Local(0), Expr::Local(1));
        let length = |array: &Expr| Expr::unary(UnaryOp::Length, array.clone());
        let shorter = Expr::binary(BinaryOp::Le, length(&a), length(&b));
        let start = Expr::Call(slice, vec![b, Expr::int(0), last_index(a.clone())]);
        let body = Expr::and(shorter, Expr::binary(BinaryOp::Eq, a, start));
        let of = |name: &str, item: &Type| (name.to_owned(), Type::Array(Box::new(item.clone())));
        let parameters = [of("a", items[0]), of("b", items[1])];
        let id = self.function("⟨0⟩ <~ ⟨1⟩", &parameters, &Type::Bool, |_| {
            body.clone()
        })?;
        Some(Expr::Call(id, arrays.into()))
    }
}

fn locals(positions: std::ops::Range<usize>) -> Vec<Expr> {
    positions
        .map(|position| Expr::Local(position as u32))
        .collect()
}

pub fn joined(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, left, right)
}

pub fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::If(Box::new([condition, then, otherwise]))
}

/// What has no value: the first item of no items.
pub fn missing() -> Expr {
    index(Expr::Array(Vec::new()), Expr::int(0))
}

pub fn index(array: Expr, at: Expr) -> Expr {
    Expr::binary(BinaryOp::Index, array, at)
}

pub fn last_index(array: Expr) -> Expr {
    let length = Expr::unary(UnaryOp::Length, array);
    Expr::binary(BinaryOp::Sub, length, Expr::int(1))
}
