//! Expressions as text that NuSMV reads back.

use crate::expr::{ExprId, Node};
use crate::model::Model;
use crate::syntax::tree::Operator;
use crate::value::Value;

/// Binding strength, from weak to strong, as in the parser.
const OR: u8 = 3;
const AND: u8 = 4;
const ATOM: u8 = 10;

/// Definitions are put in place where they are used, so a text can be exponentially longer than the model.
const LONGEST: usize = 1 << 20;

fn strength(operator: Operator) -> u8 {
    match operator {
        Operator::Implies => 0,
        Operator::Iff => 1,
        Operator::Xor | Operator::Xnor => OR,
        Operator::Equal
        | Operator::Unequal
        | Operator::Less
        | Operator::LessEqual
        | Operator::Greater
        | Operator::GreaterEqual => 5,
        Operator::In => 6,
        Operator::Union => 7,
        Operator::Add | Operator::Subtract => 8,
        Operator::Multiply | Operator::Divide | Operator::Modulo => 9,
    }
}

impl Model {
    /// The expression as NuSMV text.
    pub fn print(&self, id: ExprId) -> String {
        let mut text = String::new();
        self.write(id, 0, &mut text);
        if text.len() > LONGEST {
            text.truncate(text.floor_char_boundary(LONGEST));
            text.push_str(" ...");
        }
        text
    }

    fn write(&self, id: ExprId, around: u8, text: &mut String) {
        if text.len() > LONGEST {
            return;
        }
        let own = match self.exprs.node(id) {
            Node::And(_) => AND,
            Node::Or(_) => OR,
            Node::Binary(operator, ..) => strength(*operator),
            Node::Range(..) => 7,
            Node::Const(Value::Int(number)) if *number < 0 => 9,
            _ => ATOM,
        };
        let brackets = own < around || (own == around && own < ATOM);
        if brackets {
            text.push('(');
        }
        match self.exprs.node(id) {
            Node::Const(value) => text.push_str(&self.symbols.text(*value)),
            Node::Var(var) => text.push_str(&self.var(*var).name),
            Node::Next(var) => {
                text.push_str("next(");
                text.push_str(&self.var(*var).name);
                text.push(')');
            }
            Node::Not(inner) => {
                text.push('!');
                self.write(*inner, ATOM, text);
            }
            Node::Negate(inner) => {
                text.push('-');
                self.write(*inner, ATOM, text);
            }
            Node::And(parts) => self.write_row(parts, " & ", own, text),
            Node::Or(parts) => self.write_row(parts, " | ", own, text),
            Node::Binary(operator, left, right) => {
                self.write(*left, own, text);
                text.push(' ');
                text.push_str(operator.sign());
                text.push(' ');
                self.write(*right, own, text);
            }
            Node::Case(branches) => {
                text.push_str("case ");
                for (condition, value) in branches {
                    self.write(*condition, 0, text);
                    text.push_str(" : ");
                    self.write(*value, 0, text);
                    text.push_str("; ");
                }
                text.push_str("esac");
            }
            Node::Set(parts) => {
                text.push('{');
                self.write_row(parts, ", ", 0, text);
                text.push('}');
            }
            Node::Range(low, high) => {
                self.write(*low, 8, text);
                text.push_str("..");
                self.write(*high, 8, text);
            }
            Node::Count(parts) => self.write_call("count", parts, text),
            Node::ToInt(inner) => self.write_call("toint", &[*inner], text),
            Node::ToBool(inner) => self.write_call("bool", &[*inner], text),
            Node::Abs(inner) => self.write_call("abs", &[*inner], text),
            Node::Min(left, right) => self.write_call("min", &[*left, *right], text),
            Node::Max(left, right) => self.write_call("max", &[*left, *right], text),
        }
        if brackets {
            text.push(')');
        }
    }

    fn write_call(&self, name: &str, arguments: &[ExprId], text: &mut String) {
        text.push_str(name);
        text.push('(');
        self.write_row(arguments, ", ", 0, text);
        text.push(')');
    }

    fn write_row(&self, parts: &[ExprId], between: &str, around: u8, text: &mut String) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push_str(between);
            }
            self.write(*part, around, text);
        }
    }
}
