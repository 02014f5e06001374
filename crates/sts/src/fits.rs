//! What bounds inside of arrays and structures demand of an update: a switch that would put 4 into an
//! array of `integer(0..3)` is not enabled, as one that would put it into such a variable.
//!
//! Most updates keep the bounds by the way they are written (an item of the same type is added, some
//! items are taken out) and demand nothing. For the others ioco writes a function that goes through the
//! value. It comes last, when all functions of the model have their numbers.
//!
//! The order of sets and hashes ([`StructKind`]) is such a bound. Expressions of the language keep it; of a parameter
//! it is demanded, so that no solver proposes a value that is none.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{FunctionId, LabelId};
use crate::sts::{Demand, Demanded, Function, Sts, Subject};
use crate::types::{StructKind, Type, Types};
use crate::value::Value;

/// For every switch, what the insides of its variables' types demand, and the functions that the conditions call.
pub(crate) fn demands(sts: &Sts) -> (Vec<Vec<Demand>>, Vec<Function>) {
    let mut fits = Fits {
        sts,
        label: None,
        inside: Vec::new(),
        new: Vec::new(),
    };
    let nesting = sts.types().nesting();
    if nesting
        .iter()
        .any(|depth| depth.is_none_or(|depth| depth > MAX_NESTING))
    {
        return (vec![Vec::new(); sts.switches().len()], Vec::new());
    }
    let mut all = Vec::with_capacity(sts.switches().len());
    for switch in sts.switches() {
        fits.label = switch.gate.label();
        // A bounded variable's own range is demanded already.
        let unbounded = { switch.update.iter() }.filter_map(|assignment| {
            let ty = &sts.variable(assignment.variable).ty;
            ty.int_range().is_none().then_some((assignment, ty))
        });
        let demands = unbounded.map(|(assignment, ty)| Demand {
            subject: Subject::Variable(assignment.variable),
            demanded: Demanded::Fits,
            condition: fits.condition(&assignment.value, ty),
        });
        let mut demands: Vec<Demand> = demands.collect();
        let parameters = fits.label.map_or(&[][..], |id| &sts.label(id).parameters);
        for (at, parameter) in parameters.iter().enumerate() {
            if is_keyed(&parameter.ty, sts.types()) {
                let at = at as u32;
                demands.push(Demand {
                    subject: Subject::Parameter(at),
                    demanded: Demanded::Fits,
                    condition: fits.checked(&Expr::Param(at), &parameter.ty),
                });
            }
        }
        demands.retain(|demand| demand.condition != Expr::TRUE);
        all.push(demands);
    }
    (all, fits.new)
}

/// Whether a set or a hash is in values of a type.
fn is_keyed(ty: &Type, types: &Types) -> bool {
    match ty {
        Type::Array(item) => is_keyed(item, types),
        Type::Struct(id) => {
            let declared = types.structs.get(id.index());
            types.item_of(*id).is_some()
                || declared.is_some_and(|d| d.fields.iter().any(|(_, ty)| is_keyed(ty, types)))
        }
        _ => false,
    }
}

/// Whether a type has bounds that a value of the right kind may break.
fn is_bounded(ty: &Type, types: &Types) -> bool {
    match ty {
        Type::Array(item) => is_bounded(item, types),
        Type::Struct(id) => types.structs.get(id.index()).is_some_and(|declared| {
            let mut fields = declared.fields.iter();
            types.item_of(*id).is_some() || fields.any(|(_, ty)| is_bounded(ty, types))
        }),
        _ => ty.int_range().is_some_and(|range| !range.is_full()),
    }
}

/// Functions that call each other and are followed.
const MAX_CALLS: usize = 20;

/// Structures inside each other that are followed; a file may have a chain without end.
const MAX_NESTING: u64 = 50;

/// Whether every value of the first type is one of the second.
fn is_within(inner: &Type, outer: &Type) -> bool {
    match (inner, outer) {
        (Type::Array(inner), Type::Array(outer)) => is_within(inner, outer),
        _ => match (inner.int_range(), outer.int_range()) {
            (Some(inner), Some(outer)) => outer.min <= inner.min && inner.max <= outer.max,
            _ => inner == outer,
        },
    }
}

struct Fits<'a> {
    sts: &'a Sts,
    label: Option<LabelId>,
    /// The functions whose bodies are looked at, the innermost last. What they call again keeps its
    /// bounds if the rest does.
    inside: Vec<FunctionId>,
    new: Vec<Function>,
}

impl Fits<'_> {
    /// The condition under which the value is one of the type.
    fn condition(&mut self, value: &Expr, ty: &Type) -> Expr {
        let types = self.sts.types();
        if !is_bounded(ty, types) || self.type_of(value).is_some_and(|t| is_within(&t, ty)) {
            return Expr::TRUE;
        }
        match (value, ty) {
            (Expr::Const(value), _) => Expr::Const(Value::Bool(types.fits(value, ty))),
            (Expr::Array(items), Type::Array(item)) => {
                let conditions = items.iter().map(|i| self.condition(i, item));
                Expr::all(conditions.collect())
            }
            (Expr::Binary(BinaryOp::Add, both), Type::Array(_)) => {
                let conditions = both.iter().map(|part| self.condition(part, ty));
                Expr::all(conditions.collect())
            }
            (Expr::Struct(id, values), Type::Struct(expected)) if id == expected => {
                let fields = types.structs[id.index()].fields.iter();
                let conditions = values.iter().zip(fields);
                let conditions = conditions.map(|(value, (_, ty))| self.condition(value, ty));
                Expr::all(conditions.collect())
            }
            (Expr::If(parts), _) => {
                let then = self.condition(&parts[1], ty);
                let otherwise = self.condition(&parts[2], ty);
                match then == Expr::TRUE && otherwise == Expr::TRUE {
                    true => Expr::TRUE,
                    false => Expr::If(Box::new([parts[0].clone(), then, otherwise])),
                }
            }
            (Expr::Call(id, arguments), _) if self.keeps_bounds(*id, arguments.len(), ty) => {
                let parameters = self.sts.functions()[id.index()].parameters.clone();
                let both = arguments.iter().zip(&parameters);
                let conditions = both.map(|(value, (_, ty))| self.condition(value, ty));
                Expr::all(conditions.collect())
            }
            _ if self.inside.is_empty() => self.checked(value, ty),
            _ => Expr::FALSE,
        }
    }

    /// Whether a function has values of this type wherever its arguments are of their types.
    fn keeps_bounds(&mut self, id: FunctionId, arguments: usize, ty: &Type) -> bool {
        let sts = self.sts;
        let Some(function) = sts.functions().get(id.index()) else {
            return false;
        };
        if function.parameters.len() != arguments || !is_within(&function.result, ty) {
            return false;
        }
        if self.inside.contains(&id) {
            return true;
        }
        if self.inside.len() >= MAX_CALLS {
            return false;
        }
        self.inside.push(id);
        let keeps = self.condition(&function.body, ty) == Expr::TRUE;
        self.inside.pop();
        keeps
    }

    /// The type of what holds a value of its type at any time.
    fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Local(at) => {
                let function = &self.sts.functions()[self.inside.last()?.index()];
                let parameter = function.parameters.get(*at as usize);
                parameter.map(|(_, ty)| ty.clone())
            }
            Expr::Var(id) => Some(self.sts.variable(*id).ty.clone()),
            Expr::Param(at) => {
                let parameters = &self.sts.label(self.label?).parameters;
                parameters.get(*at as usize).map(|p| p.ty.clone())
            }
            Expr::Field(inner, at) => match self.type_of(inner)? {
                Type::Struct(id) => {
                    let fields = &self.sts.types().structs.get(id.index())?.fields;
                    fields.get(*at as usize).map(|(_, ty)| ty.clone())
                }
                _ => None,
            },
            Expr::Unary(UnaryOp::Last, inner) => self.item_of(inner),
            Expr::Binary(BinaryOp::Index, both) => self.item_of(&both[0]),
            _ => None,
        }
    }

    fn item_of(&self, array: &Expr) -> Option<Type> {
        match self.type_of(array)? {
            Type::Array(item) => Some(*item),
            _ => None,
        }
    }

    /// The condition on a value that has to be looked at.
    fn checked(&mut self, value: &Expr, ty: &Type) -> Expr {
        if let Some(range) = ty.int_range() {
            let bounds = [value.clone(), Expr::int(range.min), Expr::int(range.max)];
            return or_void(value, Expr::InRange(Box::new(bounds)));
        }
        let function = self.function_for(ty);
        Expr::Call(function, vec![value.clone()])
    }

    fn function_for(&mut self, ty: &Type) -> FunctionId {
        let types = self.sts.types();
        let name = format!("⟨0⟩ fits {}", types.type_name(ty));
        let value = Expr::Local(0);
        let parameters = vec![("value".to_owned(), ty.clone())];
        let condition = match ty {
            Type::Array(item) => {
                let last = Expr::unary(UnaryOp::Length, value.clone());
                let last = Expr::binary(BinaryOp::Sub, last, Expr::int(1));
                let helper = self.items_function(&name, ty, item);
                Expr::Call(helper, vec![value.clone(), Expr::int(0), last])
            }
            Type::Struct(id) => {
                let fields = types.structs[id.index()].fields.iter().enumerate();
                let bounded = fields.filter(|(_, (_, ty))| is_bounded(ty, types));
                let bounded: Vec<(usize, Type)> =
                    bounded.map(|(at, (_, ty))| (at, ty.clone())).collect();
                let order = types
                    .item_of(*id)
                    .map(|item| self.order_function(&name, item));
                let field = |at: usize| Expr::Field(Box::new(Expr::Local(0)), at as u32);
                let order = order.map(|order| {
                    let items = field(0);
                    let last = Expr::unary(UnaryOp::Length, items.clone());
                    let last = Expr::binary(BinaryOp::Sub, last, Expr::int(1));
                    Expr::Call(order, vec![items, Expr::int(0), last])
                });
                let mut conditions: Vec<Expr> = order.into_iter().collect();
                for (at, ty) in bounded {
                    conditions.push(self.checked(&field(at), &ty));
                }
                Expr::all(conditions)
            }
            _ => Expr::TRUE,
        };
        let body = or_void(&value, condition);
        self.function(name, parameters, |_| body.clone())
    }

    /// Asks the items from one index to another, by halves.
    fn items_function(&mut self, name: &str, ty: &Type, item: &Type) -> FunctionId {
        let (xs, low) = (Expr::Local(0), Expr::Local(1));
        let one = Expr::binary(BinaryOp::Index, xs, low);
        let one = self.checked(&one, item);
        self.halves_function(format!("{name} from ⟨1⟩ to ⟨2⟩"), ty, one)
    }

    /// Whether every item of a set or a hash has a key, after that of the item before it.
    fn order_function(&mut self, name: &str, item: &Type) -> FunctionId {
        let types = self.sts.types();
        let (xs, low) = (Expr::Local(0), Expr::Local(1));
        let key = |at: Expr| {
            let item_at = Expr::binary(BinaryOp::Index, xs.clone(), at);
            match item {
                Type::Struct(id) if types.kind_of(*id) == StructKind::Entry => {
                    Expr::Field(Box::new(item_at), 0)
                }
                _ => item_at,
            }
        };
        let is_set = Expr::binary(BinaryOp::Ne, key(low.clone()), Expr::Const(Value::Void));
        let before = Expr::binary(BinaryOp::Sub, low.clone(), Expr::int(1));
        let after = Expr::binary(BinaryOp::Lt, key(before), key(low.clone()));
        let is_first = Expr::binary(BinaryOp::Eq, low, Expr::int(0));
        let one = Expr::and(is_set, Expr::binary(BinaryOp::Or, is_first, after));
        let whole = Type::Array(Box::new(item.clone()));
        self.halves_function(format!("{name} in order from ⟨1⟩ to ⟨2⟩"), &whole, one)
    }

    /// Whether a condition on the item at the index `low` holds from one index to another.
    fn halves_function(&mut self, name: String, ty: &Type, one: Expr) -> FunctionId {
        let (xs, low, high) = (Expr::Local(0), Expr::Local(1), Expr::Local(2));
        let parameters = vec![
            ("xs".to_owned(), ty.clone()),
            ("low".to_owned(), Type::INTEGER),
            ("high".to_owned(), Type::INTEGER),
        ];
        let body = |id: FunctionId| {
            let part = |from: Expr, to: Expr| Expr::Call(id, vec![xs.clone(), from, to]);
            let distance = Expr::binary(BinaryOp::Sub, high.clone(), low.clone());
            let half = Expr::binary(BinaryOp::Div, distance, Expr::int(2));
            let middle = Expr::binary(BinaryOp::Add, low.clone(), half);
            let after = Expr::binary(BinaryOp::Add, middle.clone(), Expr::int(1));
            let halves = Expr::and(part(low.clone(), middle), part(after, high.clone()));
            let compared = |op| Expr::binary(op, low.clone(), high.clone());
            let several = Expr::If(Box::new([compared(BinaryOp::Eq), one.clone(), halves]));
            Expr::If(Box::new([compared(BinaryOp::Gt), Expr::TRUE, several]))
        };
        self.function(name, parameters, body)
    }

    /// The function of this meaning: a model that was written to a file and read has it already.
    fn function(
        &mut self,
        name: String,
        parameters: Vec<(String, Type)>,
        body: impl Fn(FunctionId) -> Expr,
    ) -> FunctionId {
        let known = self.sts.functions().iter().chain(&self.new).enumerate();
        for (index, function) in known {
            let id = FunctionId::from_index(index);
            if function.name == name
                && function.parameters == parameters
                && function.body == body(id)
            {
                return id;
            }
        }
        let id = FunctionId::from_index(self.sts.functions().len() + self.new.len());
        self.new.push(Function {
            name,
            parameters,
            result: Type::Bool,
            body: body(id),
        });
        id
    }
}

pub(crate) fn or_void(value: &Expr, condition: Expr) -> Expr {
    let unset = Expr::binary(BinaryOp::Eq, value.clone(), Expr::Const(Value::Void));
    Expr::binary(BinaryOp::Or, unset, condition)
}
