//! Values, stimuli and responses.

use ioco::{Decimal, Response, Value};

#[test]
fn rust_values_become_values_of_models() {
    let response = Response::new("r")
        .with("a", 1u8)
        .with("b", -1i64)
        .with("c", true)
        .with("d", "x")
        .with("e", vec![1usize, 2])
        .with("f", None::<i64>)
        .with("g", Decimal::new(150, 2))
        .with("h", Value::Struct(vec![("k".to_owned(), 1.into())]));
    assert_eq!(
        response.to_string(),
        "!r(a=1, b=-1, c=true, d=\"x\", e=[1, 2], f=:void, g=1.50, h={k: 1})"
    );
    assert_eq!(response.get("c"), Some(&Value::Boolean(true)));
    assert_eq!(response.get("z"), None);
}

#[test]
fn a_number_without_a_place_in_a_model_stays_visible() {
    assert_eq!(Value::from(u64::MAX).to_string(), u64::MAX.to_string());
    assert_eq!(Value::from(7usize), Value::Integer(7));
}
