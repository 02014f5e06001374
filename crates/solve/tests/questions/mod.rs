//! Questions of every kind for the comparison of solvers: made at random, answered by trying values,
//! and made smaller when two answers exclude each other.

#[allow(
    dead_code,
    reason = "the ledger and the benchmarks use it, the comparison does not"
)]
pub mod blocks;
pub mod enumerate;
pub mod generate;
pub mod shapes;
pub mod shrink;

use ioco_solve::Solver;
use ioco_sts::{
    BinaryOp, Direction, EnumId, EnumType, Env, Expr, Function, IntRange, Label, LabelId,
    Parameter, StructId, StructType, Sts, StsBuilder, Type, Types, UnaryOp, Value,
};

pub const COLOUR: EnumId = EnumId(0);
pub const PAIR: StructId = StructId(0);

pub fn types() -> Types {
    Types {
        enums: vec![EnumType {
            name: "Colour".to_owned(),
            members: ["Red", "Green", "Blue"].map(str::to_owned).to_vec(),
        }],
        structs: vec![StructType {
            name: "Pair".to_owned(),
            fields: vec![
                ("n".to_owned(), Type::Int(IntRange { min: -3, max: 9 })),
                ("s".to_owned(), Type::Str),
                ("d".to_owned(), Type::Decimal),
            ],
            kind: ioco_sts::StructKind::Plain,
        }],
    }
}

/// The numbers by which expressions call the functions.
pub mod function {
    pub const TWICE: u32 = 0;
    pub const CLIP: u32 = 1;
    pub const GREET: u32 = 2;
    pub const RATIO: u32 = 3;
    pub const SHORT: u32 = 4;
}

pub fn functions() -> Vec<Function> {
    let bin = Expr::binary;
    let local = Expr::Local;
    let function = |name: &str, parameters: &[Type], result: Type, body: Expr| Function {
        name: name.to_owned(),
        parameters: parameters
            .iter()
            .enumerate()
            .map(|(index, ty)| (format!("a{index}"), ty.clone()))
            .collect(),
        result,
        body,
    };
    let above = bin(BinaryOp::Gt, local(0), Expr::int(5));
    let zero = bin(BinaryOp::Eq, local(1), Expr::int(0));
    let length = Expr::unary(UnaryOp::Length, local(0));
    vec![
        function(
            "twice",
            &[Type::INTEGER],
            Type::INTEGER,
            bin(BinaryOp::Add, local(0), local(0)),
        ),
        function(
            "clip",
            &[Type::INTEGER],
            Type::INTEGER,
            Expr::If(Box::new([above, Expr::int(5), local(0)])),
        ),
        function(
            "greet",
            &[Type::Str],
            Type::Str,
            bin(BinaryOp::Add, Expr::Const(Value::str("a-")), local(0)),
        ),
        function(
            "ratio",
            &[Type::INTEGER, Type::INTEGER],
            Type::INTEGER,
            Expr::If(Box::new([
                zero,
                Expr::int(0),
                bin(BinaryOp::Div, local(0), local(1)),
            ])),
        ),
        function(
            "short",
            &[Type::Str],
            Type::Bool,
            bin(BinaryOp::Lt, length, Expr::int(3)),
        ),
    ]
}

/// Unknowns, with whether they may be `:void`, and what must hold.
#[derive(Clone, Debug)]
pub struct Question {
    pub unknowns: Vec<(Type, bool)>,
    pub conditions: Vec<Expr>,
}

impl Question {
    pub fn holds(&self, values: &[Value], functions: &[Function]) -> bool {
        let env = Env {
            variables: &[],
            parameters: values,
            functions,
        };
        self.conditions.iter().all(|c| c.holds(env) == Ok(true))
    }

    /// Whether the values are ones that the unknowns may have.
    pub fn fits(&self, values: &[Value]) -> bool {
        let types = types();
        values.len() == self.unknowns.len()
            && values
                .iter()
                .zip(&self.unknowns)
                .all(|(v, (ty, void))| types.fits(v, ty) && (*void || !v.is_void()))
    }

    pub fn assert_in(&self, solver: &mut dyn Solver) {
        for (ty, void) in &self.unknowns {
            if *void {
                solver.void_unknown(ty);
            } else {
                solver.unknown(ty);
            }
        }
        for condition in &self.conditions {
            solver.assert(condition);
        }
    }

    pub fn guard(&self) -> Expr {
        self.conditions.iter().cloned().fold(Expr::TRUE, Expr::and)
    }

    /// A model whose one label has the unknowns as parameters.
    pub fn model(&self) -> (Sts, LabelId) {
        let mut builder = StsBuilder::new("question");
        *builder.types() = types();
        for function in functions() {
            builder.function(function);
        }
        let label = builder.label(Label {
            name: "ask".to_owned(),
            channel: "c".to_owned(),
            direction: Direction::Stimulus,
            parameters: self
                .unknowns
                .iter()
                .enumerate()
                .map(|(index, (ty, _))| Parameter {
                    name: format!("p{index}"),
                    ty: ty.clone(),
                })
                .collect(),
        });
        (builder.build(), label)
    }

    /// As it would be written in a model.
    pub fn show(&self) -> String {
        let (sts, label) = self.model();
        let types = types();
        let parameters: Vec<String> = self
            .unknowns
            .iter()
            .enumerate()
            .map(|(index, (ty, void))| {
                let void = if *void { "" } else { " (not :void)" };
                format!("'p{index}' => {}{void}", types.type_name(ty))
            })
            .collect();
        let condition = ioco_sts::show_expr(&sts, Some(label), &self.guard());
        format!(
            "stimulus 'ask', {{{}}}, constraint: '{condition}'",
            parameters.join(", ")
        )
    }
}
