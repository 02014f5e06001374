//! Recursive functions written out where constants govern the recursion.
//!
//! A function over an array asks the halves of a range of indexes. Once the length of the array is fixed,
//! so are all ranges, and the call becomes a condition on the items, which the rest of the solver
//! understands. Writing a call out only adds values that satisfy a condition (an argument without a value
//! is no error where it is not used), so *unsatisfiable* stays right, and *satisfiable* is checked by
//! evaluation as always.

use ioco_sts::{BinaryOp, Expr, Function, FunctionId, UnaryOp, Value};

/// Calls that are written out for one condition.
const MAX_CALLS: u32 = 600;
/// Calls inside each other.
const MAX_DEPTH: u32 = 40;

/// The condition with its calls written out, as far as constants decide where they end.
pub(crate) fn unfolded(expr: Expr, functions: &[Function]) -> Expr {
    let mut any = false;
    expr.walk(&mut |e| any |= matches!(e, Expr::Call(..)));
    if !any {
        return expr;
    }
    let mut unfold = Unfold {
        functions,
        calls: MAX_CALLS,
    };
    unfold.written_out(&expr, &[], 0)
}

struct Unfold<'a> {
    functions: &'a [Function],
    calls: u32,
}

impl Unfold<'_> {
    /// The expression with `arguments` for its locals.
    fn written_out(&mut self, expr: &Expr, arguments: &[Expr], depth: u32) -> Expr {
        match expr {
            Expr::Local(position) if depth > 0 => {
                let argument = arguments.get(*position as usize);
                argument.cloned().unwrap_or(Expr::Const(Value::Void))
            }
            Expr::If(all) => {
                let condition = self.written_out(&all[0], arguments, depth);
                match condition {
                    Expr::Const(Value::Bool(true)) => self.written_out(&all[1], arguments, depth),
                    Expr::Const(Value::Bool(false)) => self.written_out(&all[2], arguments, depth),
                    _ => Expr::If(Box::new([
                        condition,
                        self.written_out(&all[1], arguments, depth),
                        self.written_out(&all[2], arguments, depth),
                    ])),
                }
            }
            Expr::Call(id, given) => {
                let given: Vec<Expr> = given
                    .iter()
                    .map(|argument| self.written_out(argument, arguments, depth))
                    .collect();
                self.call(*id, given, depth)
            }
            _ => folded(expr.map_children(|e| self.written_out(e, arguments, depth))),
        }
    }

    fn call(&mut self, id: FunctionId, given: Vec<Expr>, depth: u32) -> Expr {
        let Some(function) = self.functions.get(id.index()) else {
            return Expr::Call(id, given);
        };
        if self.calls == 0 || depth >= MAX_DEPTH || !self.ends(function, &given) {
            return Expr::Call(id, given);
        }
        self.calls -= 1;
        self.written_out(&function.body, &given, depth + 1)
    }

    /// Whether constants decide which branch the function takes, or there are none.
    fn ends(&mut self, function: &Function, given: &[Expr]) -> bool {
        let Expr::If(all) = &function.body else {
            return true;
        };
        let condition = computed(&all[0].with_arguments(given));
        matches!(condition, Expr::Const(Value::Bool(_)))
    }
}

fn computed(expr: &Expr) -> Expr {
    folded(expr.map_children(computed))
}

/// One operation whose operands are known, computed.
fn folded(expr: Expr) -> Expr {
    let simpler = match &expr {
        Expr::Unary(UnaryOp::Length, inner) => match &**inner {
            Expr::Array(items) => Some(Expr::int(items.len() as i64)),
            _ => None,
        },
        Expr::Binary(op, both) => match (op, &both[0], &both[1]) {
            (BinaryOp::Index, Expr::Array(items), Expr::Const(Value::Int(at))) => {
                let at = usize::try_from(*at).ok();
                at.and_then(|at| items.get(at)).cloned()
            }
            (BinaryOp::Add, Expr::Array(a), Expr::Array(b)) => {
                Some(Expr::Array(a.iter().chain(b).cloned().collect()))
            }
            (BinaryOp::Eq, Expr::Array(a), Expr::Array(b)) => Some(equal(a, b)),
            _ => None,
        },
        _ => None,
    };
    if let Some(simpler) = simpler {
        return simpler;
    }
    match expr {
        Expr::Call(..) | Expr::Array(_) => expr,
        _ => expr.simplified(&[]),
    }
}

fn equal(a: &[Expr], b: &[Expr]) -> Expr {
    if a.len() != b.len() {
        return Expr::FALSE;
    }
    let pairs = a.iter().zip(b);
    let equal = pairs.map(|(a, b)| Expr::binary(BinaryOp::Eq, a.clone(), b.clone()));
    Expr::all(equal.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioco_sts::Type;

    /// A function of one parameter with this body, which may call it as function 0.
    fn function(body: Expr) -> Vec<Function> {
        vec![Function {
            name: "f".to_owned(),
            parameters: vec![("n".to_owned(), Type::INTEGER)],
            result: Type::INTEGER,
            body,
        }]
    }

    fn call(argument: Expr) -> Expr {
        Expr::Call(FunctionId(0), vec![argument])
    }

    fn sum(left: Expr, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Add, left, right)
    }

    /// How many sums and how many calls an expression has.
    fn sums_and_calls(expr: &Expr) -> (u32, u32) {
        let (mut sums, mut calls) = (0, 0);
        expr.walk(&mut |e| {
            sums += u32::from(matches!(e, Expr::Binary(BinaryOp::Add, _)));
            calls += u32::from(matches!(e, Expr::Call(..)));
        });
        (sums, calls)
    }

    #[test]
    fn a_call_without_end_is_written_out_to_a_depth() {
        let functions = function(sum(call(Expr::Local(0)), Expr::Local(0)));
        let written = unfolded(call(Expr::Param(0)), &functions);
        assert_eq!(sums_and_calls(&written), (MAX_DEPTH, 1));
    }

    #[test]
    fn calls_that_double_are_written_out_up_to_a_number() {
        let positive = Expr::binary(BinaryOp::Gt, Expr::Local(0), Expr::int(0));
        let less = || Expr::binary(BinaryOp::Sub, Expr::Local(0), Expr::int(1));
        let twice = sum(call(less()), call(less()));
        let body = Expr::If(Box::new([positive, twice, Expr::Param(0)]));
        let (sums, calls) = sums_and_calls(&unfolded(call(Expr::int(12)), &function(body.clone())));
        assert!(0 < sums && sums <= MAX_CALLS && calls > 0, "{sums} {calls}");
        let (sums, calls) = sums_and_calls(&unfolded(call(Expr::int(5)), &function(body)));
        assert_eq!((sums, calls), (31, 0));
    }

    #[test]
    fn lists_of_unknown_items_are_computed_with() {
        use BinaryOp::{Add, And, Eq, Index, Or};
        let (x, y) = (|| Expr::Param(0), || Expr::Param(1));
        let list = |items: &[Expr]| Expr::Array(items.to_vec());
        let both = list(&[x(), y()]);
        let length = Expr::Unary(UnaryOp::Length, Box::new(both.clone()));
        assert_eq!(folded(length), Expr::int(2));
        let binary =
            |op, left: &Expr, right: &Expr| folded(Expr::binary(op, left.clone(), right.clone()));
        assert_eq!(binary(Index, &both, &Expr::int(1)), y());
        assert_eq!(binary(Add, &list(&[x()]), &list(&[y()])), both);
        let equal = Expr::binary(Eq, x(), y());
        assert_eq!(binary(Eq, &list(&[x()]), &list(&[y()])), equal);
        assert_eq!(binary(Eq, &both, &list(&[y()])), Expr::FALSE);
        assert_eq!(binary(And, &Expr::TRUE, &equal), equal);
        assert_eq!(binary(Or, &Expr::FALSE, &equal), equal);
        let unknown = Expr::binary(Index, both.clone(), Expr::int(2));
        assert_eq!(folded(unknown.clone()), unknown);
    }

    /// Outside a function a local belongs to the question, not to a call.
    #[test]
    fn locals_of_the_condition_itself_stay() {
        let functions = function(Expr::Local(0));
        let condition = sum(Expr::Local(0), call(Expr::Param(0)));
        let expected = sum(Expr::Local(0), Expr::Param(0));
        assert_eq!(unfolded(condition, &functions), expected);
    }
}
