//! Quotients of decimals: as many places as there is room for, rounded half to even.

use std::collections::BTreeMap;

use ioco_differential::generate::dice;
use ioco_differential::reference::Val;
use ioco_differential::reference::text::{Source, expression};
use ioco_sts::{BinaryOp, Env, Expr, Value};
use rand::RngExt as _;
use rust_decimal::Decimal;

const NOTHING: Env<'_> = Env {
    variables: &[],
    parameters: &[],
    functions: &[],
};

#[test]
fn quotients_are_rounded_as_the_book_says() {
    let loaded = ioco_aml::load_text("model.aml", "process('p') { state 'S' }");
    let sts = loaded.sts.expect("it loads");
    let functions = BTreeMap::new();
    let source = Source::new(&sts, &functions, BTreeMap::new());
    let mut dice = dice(28);
    let mut rounded = 0;
    for _ in 0..4000 {
        let mut number = || {
            let digits = dice.random_range(1..=96);
            let mantissa = dice.random_range(1..1i128 << digits);
            Decimal::from_i128_with_scale(mantissa, dice.random_range(0..=28))
        };
        let (left, right) = (number(), number());
        // A decimal by the way it is written.
        let written = |number: Decimal| match number.scale() {
            0 => format!("{number}.0"),
            _ => number.to_string(),
        };
        let text = format!("{} / {}", written(left), written(right));
        let expected = source.eval(&expression(&text).expect("readable")).ok();
        let both = [left, right].map(|number| Expr::Const(Value::Decimal(number)));
        let found = Expr::Binary(BinaryOp::Div, Box::new(both)).eval(NOTHING);
        assert_eq!(found.as_ref().ok().map(Val::of), expected, "{text}");
        if let Ok(Value::Decimal(quotient)) = found {
            rounded += usize::from(quotient.checked_mul(right) != Some(left));
        }
    }
    assert!(rounded > 1000, "{rounded} of 4000 are rounded");
}
