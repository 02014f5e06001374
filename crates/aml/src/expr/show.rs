//! An expression back as model text.

use ioco_sts::{BinaryOp, Expr, LabelId, Sts, UnaryOp, Value, VarId};

/// The expression as it would be written in a model. `label` gives the parameters their names.
pub fn show_expr(expr: &Expr, sts: &Sts, label: Option<LabelId>) -> String {
    Shower { sts, label }.show(expr, 0)
}

struct Shower<'a> {
    sts: &'a Sts,
    label: Option<LabelId>,
}

/// How tightly an expression binds; what binds less tightly than its place demands gets
/// parentheses.
fn tightness(expr: &Expr) -> u8 {
    match expr {
        Expr::If(_) => 0,
        Expr::Binary(op, _) => match op {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq | BinaryOp::Ne => 3,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 4,
            BinaryOp::Add | BinaryOp::Sub => 5,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 6,
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Index => 9,
        },
        Expr::Matches(..) => 3,
        Expr::InSet(..) | Expr::InRange(_) => 4,
        Expr::Unary(UnaryOp::Not | UnaryOp::Neg, _) => 7,
        Expr::Const(Value::Int(value)) if *value < 0 => 7,
        Expr::Const(Value::Decimal(value)) if value.is_sign_negative() => 7,
        _ => 9,
    }
}

impl Shower<'_> {
    fn show(&self, expr: &Expr, wanted: u8) -> String {
        let text = self.bare(expr);
        if tightness(expr) < wanted {
            format!("({text})")
        } else {
            text
        }
    }

    fn list(&self, items: &[Expr]) -> String {
        let shown: Vec<String> = items.iter().map(|item| self.show(item, 0)).collect();
        shown.join(", ")
    }

    fn bare(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => self.constant(value),
            Expr::Var(variable) => self.variable(*variable),
            Expr::Param(position) => self
                .label
                .and_then(|label| {
                    let parameters = &self.sts.label(label).parameters;
                    parameters.get(*position as usize)
                })
                .map_or_else(|| format!("parameter_{position}"), |p| p.name.clone()),
            Expr::Local(position) => format!("local_{position}"),
            Expr::Unary(op, inner) => match op {
                UnaryOp::Not => format!("!{}", self.show(inner, 8)),
                // Digits after a minus would be read as a negative number.
                UnaryOp::Neg if matches!(**inner, Expr::Const(_)) => {
                    format!("-({})", self.show(inner, 0))
                }
                UnaryOp::Neg => format!("-{}", self.show(inner, 8)),
                UnaryOp::Abs => format!("abs({})", self.show(inner, 0)),
                UnaryOp::Length => format!("length({})", self.show(inner, 0)),
                UnaryOp::Last => format!("last({})", self.show(inner, 0)),
            },
            Expr::Binary(op, both) => self.binary(expr, *op, &both[0], &both[1]),
            Expr::If(all) => format!(
                "if {} then {} else {}",
                self.show(&all[0], 1),
                self.show(&all[1], 1),
                self.show(&all[2], 1)
            ),
            Expr::InSet(subject, items) => {
                format!("{} in [{}]", self.show(subject, 5), self.list(items))
            }
            Expr::InRange(all) => format!(
                "{} in {}..{}",
                self.show(&all[0], 5),
                self.show(&all[1], 5),
                self.show(&all[2], 5)
            ),
            Expr::Array(items) => format!("[{}]", self.list(items)),
            Expr::Field(inner, field) => {
                let name = self.field_name(inner, *field);
                format!("{}.{name}", self.show(inner, 9))
            }
            Expr::Matches(subject, pattern) => {
                let pattern = pattern.text().replace('/', "\\/");
                format!("{} =~ /{pattern}/", self.show(subject, 4))
            }
            Expr::Call(function, arguments) => {
                let function = self.sts.functions().get(function.index());
                let name = function.map_or("?", |f| f.name.as_str());
                format!("{name}({})", self.list(arguments))
            }
        }
    }

    fn binary(&self, expr: &Expr, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        let own = tightness(expr);
        match op {
            BinaryOp::Min => format!("min({}, {})", self.show(left, 0), self.show(right, 0)),
            BinaryOp::Max => format!("max({}, {})", self.show(left, 0), self.show(right, 0)),
            BinaryOp::Index => format!("{}[{}]", self.show(left, 9), self.show(right, 0)),
            _ => {
                // `a && (b && c)` is `a && b && c`, so it is written so.
                let grouped = matches!(op, BinaryOp::And | BinaryOp::Or);
                let on_the_right = if grouped { own } else { own + 1 };
                let symbol = op.symbol().unwrap_or("?");
                let left = self.show(left, own);
                let right = self.show(right, on_the_right);
                format!("{left} {symbol} {right}")
            }
        }
    }

    fn variable(&self, id: VarId) -> String {
        let variable = self.sts.variable(id);
        let twins = self
            .sts
            .variables()
            .iter()
            .filter(|v| v.name == variable.name)
            .count();
        let parameter = self.label.is_some_and(|label| {
            let parameters = &self.sts.label(label).parameters;
            parameters.iter().any(|p| p.name == variable.name)
        });
        if twins > 1 || parameter {
            let process = &self.sts.processes()[variable.process.index()].name;
            format!("{process}.{}", variable.name)
        } else {
            variable.name.clone()
        }
    }

    fn constant(&self, value: &Value) -> String {
        let Value::Enum(id, member) = value else {
            return value.display(self.sts.types()).to_string();
        };
        let types = self.sts.types();
        let name = types.member_name(*id, *member);
        let holders = types
            .enums
            .iter()
            .filter(|e| e.members.iter().any(|m| m == name))
            .count();
        let hidden = self.sts.variables().iter().any(|v| v.name == name)
            || self.label.is_some_and(|label| {
                let parameters = &self.sts.label(label).parameters;
                parameters.iter().any(|p| p.name == name)
            });
        if holders > 1 || hidden {
            format!("{}.{name}", types.enums[id.index()].name)
        } else {
            name.to_owned()
        }
    }

    /// The name of a field, from the type of what it is a field of.
    fn field_name(&self, inner: &Expr, field: u32) -> String {
        let declared = self
            .struct_of(inner)
            .and_then(|id| self.sts.types().structs.get(id.index()));
        declared
            .and_then(|s| s.fields.get(field as usize))
            .map_or_else(|| format!("field_{field}"), |(name, _)| name.clone())
    }

    fn struct_of(&self, expr: &Expr) -> Option<ioco_sts::StructId> {
        match self.type_of(expr)? {
            ioco_sts::Type::Struct(id) => Some(id),
            _ => None,
        }
    }

    /// The type of an expression that may hold a struct.
    fn type_of(&self, expr: &Expr) -> Option<ioco_sts::Type> {
        use ioco_sts::Type;
        match expr {
            Expr::Var(variable) => Some(self.sts.variable(*variable).ty.clone()),
            Expr::Param(position) => {
                let label = self.sts.label(self.label?);
                label
                    .parameters
                    .get(*position as usize)
                    .map(|p| p.ty.clone())
            }
            Expr::Field(inner, field) => {
                let id = self.struct_of(inner)?;
                let declared = self.sts.types().structs.get(id.index())?;
                declared.fields.get(*field as usize).map(|f| f.1.clone())
            }
            Expr::Binary(BinaryOp::Index, both) => match self.type_of(&both[0])? {
                Type::Array(item) => Some(*item),
                _ => None,
            },
            Expr::Unary(UnaryOp::Last, inner) => match self.type_of(inner)? {
                Type::Array(item) => Some(*item),
                _ => None,
            },
            Expr::If(all) => self.type_of(&all[1]).or_else(|| self.type_of(&all[2])),
            Expr::Array(items) => {
                let item = items.first().and_then(|i| self.type_of(i))?;
                Some(Type::Array(Box::new(item)))
            }
            Expr::Const(Value::Struct(id, _)) => Some(Type::Struct(*id)),
            Expr::Call(function, _) => {
                let function = self.sts.functions().get(function.index())?;
                Some(function.result.clone())
            }
            _ => None,
        }
    }
}
