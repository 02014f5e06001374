//! A system with at least one of everything that a file must keep.

use ioco_sts::{
    Assignment, BinaryOp, Direction, EnumId, EnumType, Expr, Function, FunctionId, Gate, IntRange,
    Label, Location, Parameter, Pattern, Place, StructId, StructType, Sts, StsBuilder, Type,
    UnaryOp, Value, VarId, Variable,
};

fn parameter(name: &str, ty: Type) -> Parameter {
    Parameter {
        name: name.to_owned(),
        ty,
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

pub fn everything() -> Sts {
    let mut builder = StsBuilder::new("shop \"&<\n");
    let file = builder.file("shop.aml");
    builder.timeout(123_456_789);
    builder.types().enums.push(EnumType {
        name: "Product".to_owned(),
        members: vec!["Coffee".to_owned(), "Tea".to_owned()],
    });
    builder.types().structs.push(StructType {
        name: "Order".to_owned(),
        fields: vec![
            ("product".to_owned(), Type::Enum(EnumId(0))),
            ("amount".to_owned(), Type::Int(IntRange { min: 1, max: 9 })),
        ],
        kind: ioco_sts::StructKind::Plain,
    });
    let twice = builder.function(Function {
        name: "twice".to_owned(),
        parameters: vec![("x".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: binary(BinaryOp::Mul, Expr::Local(0), Expr::int(2)),
    });
    let label = |name: &str, direction, parameters| Label {
        name: name.to_owned(),
        channel: "counter".to_owned(),
        direction,
        parameters,
    };
    let order = builder.label(label(
        "order",
        Direction::Stimulus,
        vec![
            parameter("what", Type::Struct(StructId(0))),
            parameter("note", Type::Str),
        ],
    ));
    let price = vec![
        parameter("price", Type::Decimal),
        parameter("day", Type::Date),
    ];
    let bill = builder.label(label("bill", Direction::Response, price));
    let pass = builder.label(label(
        "pass",
        Direction::Internal,
        vec![parameter("done", Type::Bool), parameter("at", Type::Time)],
    ));
    let place = |line| Place {
        file,
        line,
        column: 3,
    };
    let front = builder.process("front");
    let variables: [(&str, Type, Value); 5] = [
        ("total", Type::INTEGER, Value::Int(i64::MIN)),
        (
            "tip",
            Type::Decimal,
            Value::Decimal("-1.50".parse().unwrap()),
        ),
        (
            "orders",
            Type::Array(Box::new(Type::Struct(StructId(0)))),
            Value::Array(
                [Value::Struct(
                    StructId(0),
                    [Value::Enum(EnumId(0), 1), Value::Void].into(),
                )]
                .into(),
            ),
        ),
        ("name", Type::Str, Value::str("Zoë \"\n")),
        ("open", Type::Bool, Value::Void),
    ];
    for (index, (name, ty, initial)) in variables.into_iter().enumerate() {
        builder.variable(Variable {
            name: name.to_owned(),
            process: front,
            ty,
            initial,
            place: place(index as u32 + 10),
        });
    }
    let waiting = builder.named_location(front, "_1");
    let idle = builder.location(Location {
        name: "idle".to_owned(),
        process: front,
        timeout: Some(u64::MAX),
        place: place(20),
    });
    builder.initial(front, idle);
    let back = builder.process("back");
    let kitchen = builder.named_location(back, "kitchen");
    let silent = builder.process("silent");
    builder.named_location(silent, "nothing");
    builder.participant(pass, silent);

    for (gate, guard, update) in [
        (Gate::Observable(order), order_guard(twice), order_update()),
        (Gate::Observable(bill), bill_guard(), Vec::new()),
        (Gate::Send(pass), Expr::Param(0), Vec::new()),
        (Gate::Tau, Expr::TRUE, Vec::new()),
    ] {
        builder.switch(idle, gate, guard, update, waiting, place(30));
    }
    let receive = builder.switch(
        kitchen,
        Gate::Receive(pass),
        Expr::unary(UnaryOp::Not, Expr::Param(0)),
        Vec::new(),
        kitchen,
        Place::default(),
    );
    builder.note(receive, "#green $total");
    builder.build()
}

fn order_guard(twice: FunctionId) -> Expr {
    let amount = Expr::Field(Box::new(Expr::Param(0)), 1);
    let total = Expr::Var(VarId(0));
    let orders = Expr::Var(VarId(2));
    let pattern = Pattern::new("^a/b+$").unwrap();
    let last = Expr::unary(UnaryOp::Last, orders.clone());
    let item = binary(BinaryOp::Index, orders.clone(), Expr::int(0));
    let conjuncts = [
        Expr::InRange(Box::new([amount.clone(), Expr::int(1), Expr::int(5)])),
        Expr::InSet(Box::new(amount.clone()), vec![Expr::int(2), Expr::int(3)]),
        Expr::Matches(Box::new(Expr::Param(1)), pattern),
        binary(BinaryOp::Ne, Expr::Param(1), Expr::Const(Value::Void)),
        binary(
            BinaryOp::Le,
            Expr::unary(UnaryOp::Length, orders),
            Expr::int(9),
        ),
        binary(
            BinaryOp::Lt,
            Expr::Call(twice, vec![amount.clone()]),
            Expr::unary(UnaryOp::Abs, Expr::unary(UnaryOp::Neg, total.clone())),
        ),
        binary(
            BinaryOp::Or,
            binary(BinaryOp::Eq, last, item),
            binary(BinaryOp::Gt, total, amount),
        ),
    ];
    conjuncts.into_iter().reduce(Expr::and).unwrap()
}

fn order_update() -> Vec<Assignment> {
    let total = Expr::Var(VarId(0));
    let orders = Expr::Var(VarId(2));
    let sum = binary(
        BinaryOp::Sub,
        binary(BinaryOp::Add, total.clone(), Expr::int(7)),
        binary(
            BinaryOp::Rem,
            total.clone(),
            binary(BinaryOp::Div, total.clone(), Expr::int(2)),
        ),
    );
    let smaller = binary(
        BinaryOp::Min,
        sum,
        binary(BinaryOp::Max, total.clone(), Expr::int(4)),
    );
    let condition = binary(BinaryOp::Ge, total.clone(), Expr::int(0));
    let choice = Expr::If(Box::new([condition, smaller, total]));
    let longer = binary(BinaryOp::Add, orders, Expr::Array(vec![Expr::Param(0)]));
    [(0, choice), (2, longer)]
        .map(|(variable, value)| Assignment {
            variable: VarId(variable),
            value,
        })
        .into()
}

fn bill_guard() -> Expr {
    let tip = binary(
        BinaryOp::Mul,
        Expr::Var(VarId(1)),
        Expr::Const(Value::Decimal("2.0".parse().unwrap())),
    );
    binary(
        BinaryOp::And,
        binary(BinaryOp::Eq, Expr::Param(0), tip),
        binary(BinaryOp::Ge, Expr::Param(1), Expr::int(0)),
    )
}
