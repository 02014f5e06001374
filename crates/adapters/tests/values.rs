//! Values go to JSON and back without loss.

use std::sync::Arc;

use ioco_adapters::{Mismatch, read_value, write_value};
use ioco_sts::{EnumId, EnumType, IntRange, StructId, StructKind, StructType, Type, Types, Value};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn types() -> Types {
    Types {
        enums: vec![EnumType {
            name: "Product".to_owned(),
            members: ["Coffee", "Tea", "Käse \"x\""].map(str::to_owned).into(),
        }],
        structs: vec![StructType {
            name: "Item".to_owned(),
            fields: vec![
                ("product".to_owned(), Type::Enum(EnumId(0))),
                ("price".to_owned(), Type::Decimal),
                ("tags".to_owned(), Type::Array(Box::new(Type::Str))),
            ],
            kind: StructKind::Plain,
        }],
    }
}

fn written(value: &Value) -> String {
    let mut out = Vec::new();
    write_value(value, &types(), &mut out);
    String::from_utf8(out).unwrap()
}

fn leaf() -> BoxedStrategy<(Type, Value)> {
    let with = |ty: Type, values: BoxedStrategy<Value>| values.prop_map(move |v| (ty.clone(), v));
    let decimal = (any::<i128>(), 0u32..=28).prop_filter_map("fits", |(mantissa, scale)| {
        Decimal::try_from_i128_with_scale(mantissa >> 32, scale).ok()
    });
    let string = any::<String>().prop_map(|text| Value::str(&text));
    let integer = any::<i64>().prop_map(Value::Int);
    let moment = (0..=i64::MAX).prop_map(Value::Int);
    let member = (0u32..3).prop_map(|member| Value::Enum(EnumId(0), member));
    prop_oneof![
        with(Type::Bool, any::<bool>().prop_map(Value::Bool).boxed()),
        with(Type::INTEGER, integer.boxed()),
        with(Type::Date, moment.clone().boxed()),
        with(Type::Time, moment.boxed()),
        with(Type::Decimal, decimal.prop_map(Value::Decimal).boxed()),
        with(Type::Str, string.boxed()),
        with(Type::Enum(EnumId(0)), member.boxed()),
        with(Type::Str, Just(Value::Void).boxed()),
    ]
    .boxed()
}

fn item() -> impl Strategy<Value = (Type, Value)> {
    let tags = proptest::collection::vec(any::<String>(), 0..3);
    (0u32..3, any::<i64>(), 0u32..10, tags).prop_map(|(member, mantissa, scale, tags)| {
        let tags: Arc<[Value]> = tags.iter().map(|tag| Value::str(tag)).collect();
        let fields = [
            Value::Enum(EnumId(0), member),
            Value::Decimal(Decimal::new(mantissa, scale)),
            Value::Array(tags),
        ];
        let value = Value::Struct(StructId(0), Arc::from(fields));
        (Type::Struct(StructId(0)), value)
    })
}

fn typed_value() -> impl Strategy<Value = (Type, Value)> {
    let array = (leaf(), 0usize..4).prop_map(|((ty, value), count)| {
        let items: Arc<[Value]> = std::iter::repeat_n(value, count).collect();
        (Type::Array(Box::new(ty)), Value::Array(items))
    });
    prop_oneof![4 => leaf(), 1 => array, 1 => item()]
}

proptest! {
    #[test]
    fn every_value_survives_the_way_there_and_back((ty, value) in typed_value()) {
        let json = written(&value);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
        prop_assert!(!json.contains('\n'));
        prop_assert_eq!(read_value(&json, &ty, &types()), Ok(value));
    }

    #[test]
    fn no_json_makes_reading_panic(json in any::<serde_json_text::Text>(), (ty, _) in typed_value()) {
        if let Ok(value) = read_value(&json.0, &ty, &types()) {
            prop_assert!(types().fits(&value, &ty));
        }
    }
}

/// Arbitrary well-formed JSON.
mod serde_json_text {
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    pub struct Text(pub String);

    impl Arbitrary for Text {
        type Parameters = ();
        type Strategy = BoxedStrategy<Text>;

        fn arbitrary_with((): ()) -> BoxedStrategy<Text> {
            let leaf = prop_oneof![
                Just("null".to_owned()),
                any::<bool>().prop_map(|b| b.to_string()),
                any::<i128>().prop_map(|n| n.to_string()),
                (any::<i64>(), any::<u32>(), any::<i16>())
                    .prop_map(|(a, b, e)| format!("{a}.{b}e{e}")),
                any::<String>().prop_map(|s| serde_json::Value::from(s).to_string()),
            ];
            leaf.prop_recursive(3, 16, 4, |inner| {
                prop_oneof![
                    proptest::collection::vec(inner.clone(), 0..4)
                        .prop_map(|items| format!("[{}]", items.join(","))),
                    proptest::collection::vec(("product|price|tags|x", inner), 0..4).prop_map(
                        |fields| {
                            let fields: Vec<String> = fields
                                .iter()
                                .map(|(k, v)| format!("\"{k}\": {v}"))
                                .collect();
                            format!("{{{}}}", fields.join(", "))
                        }
                    ),
                ]
            })
            .prop_map(Text)
            .boxed()
        }
    }
}

#[test]
fn numbers_are_exact() {
    let read = |json: &str, ty: &Type| read_value(json, ty, &types()).ok();
    let integer = Type::INTEGER;
    assert_eq!(
        read("9223372036854775807", &integer),
        Some(Value::Int(i64::MAX))
    );
    assert_eq!(
        read("-9223372036854775808", &integer),
        Some(Value::Int(i64::MIN))
    );
    assert_eq!(read("9223372036854775808", &integer), None);
    assert_eq!(
        read("9007199254740993", &integer),
        Some(Value::Int(9_007_199_254_740_993))
    );
    assert_eq!(read("5.0", &integer), Some(Value::Int(5)));
    assert_eq!(read("1.5e3", &integer), Some(Value::Int(1500)));
    assert_eq!(read("5.5", &integer), None);
    assert_eq!(read("\"5\"", &integer), None);
    let decimal = |mantissa, scale| Some(Value::Decimal(Decimal::new(mantissa, scale)));
    assert_eq!(read("0.1", &Type::Decimal), decimal(1, 1));
    assert_eq!(read("1e-7", &Type::Decimal), decimal(1, 7));
    assert_eq!(read("3", &Type::Decimal), decimal(3, 0));
    assert_eq!(read("0e999999", &Type::Decimal), decimal(0, 0));
    assert_eq!(read("1e999999", &Type::Decimal), None);
    // Zeros at the end are no digits that have to fit.
    let zeros = "0".repeat(29);
    assert_eq!(
        read(&format!("100.{zeros}"), &Type::Decimal),
        decimal(100, 0)
    );
    assert_eq!(read(&format!("7.5{zeros}"), &Type::Decimal), decimal(75, 1));
    assert_eq!(read("0e-999999999999", &Type::Decimal), decimal(0, 0));
    assert_eq!(read(&format!("1.{zeros}1"), &Type::Decimal), None);
    assert_eq!(
        read(&format!("5.{zeros}"), &Type::INTEGER),
        Some(Value::Int(5))
    );
    // 29 digits after the point do not fit, and nothing is rounded.
    assert_eq!(
        read("0.12345678901234567890123456789", &Type::Decimal),
        None
    );
}

#[test]
fn what_does_not_fit_says_why() {
    let why = |json: &str, ty: &Type| read_value(json, ty, &types()).unwrap_err();
    let small = Type::Int(IntRange { min: 0, max: 9 });
    let product = Type::Enum(EnumId(0));
    let item = Type::Struct(StructId(0));
    let mismatch = |text: &str| Mismatch(text.to_owned());
    assert_eq!(why("10", &small), mismatch("10 is not integer(0..9)"));
    assert_eq!(why("-1", &Type::Date), mismatch("-1 is not :date"));
    assert_eq!(
        why("\"Milk\"", &product),
        mismatch("\"Milk\" is not 'Product'")
    );
    assert_eq!(
        why(r#"{"product":"Milk"}"#, &item),
        mismatch("product: \"Milk\" is not 'Product'")
    );
    assert_eq!(
        why(r#"{"colour":1}"#, &item),
        mismatch("the model has no \"colour\" here")
    );
}

/// `set(:string)`, `{:string => :integer}` and `{:integer => 'Product'}` beside the types of the other tests.
fn keyed_types() -> (Types, [Type; 3]) {
    let mut types = types();
    let mut add = |name: &str, fields: Vec<(&str, Type)>, kind| {
        let fields = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty));
        types.structs.push(StructType {
            name: name.to_owned(),
            fields: fields.collect(),
            kind,
        });
        Type::Struct(StructId::from_index(types.structs.len() - 1))
    };
    let array = |ty: Type| Type::Array(Box::new(ty));
    let set = add(
        "set(:string)",
        vec![("items", array(Type::Str))],
        StructKind::Set,
    );
    let entry = vec![("key", Type::Str), ("value", Type::INTEGER)];
    let entry = add(":string => :integer", entry, StructKind::Entry);
    let words = add(
        "{:string => :integer}",
        vec![("entries", array(entry))],
        StructKind::Hash,
    );
    let entry = vec![("key", Type::INTEGER), ("value", Type::Enum(EnumId(0)))];
    let entry = add(":integer => 'Product'", entry, StructKind::Entry);
    let numbers = add(
        "{:integer => 'Product'}",
        vec![("entries", array(entry))],
        StructKind::Hash,
    );
    (types, [set, words, numbers])
}

#[test]
fn sets_are_arrays_and_hashes_objects_or_pairs() {
    let (types, [set, words, numbers]) = keyed_types();
    for (ty, json, shown, again) in [
        (&set, "[\"b\",\"a\"]", "Set[\"a\", \"b\"]", "[\"a\",\"b\"]"),
        (&set, "[]", "Set[]", "[]"),
        (
            &words,
            "{\"b\":2,\"a\":null}",
            "{\"a\" => :void, \"b\" => 2}",
            "{\"a\":null,\"b\":2}",
        ),
        (&words, "{}", "{}", "{}"),
        (
            &numbers,
            "[[7,\"Tea\"],[-1,\"Coffee\"]]",
            "{-1 => Coffee, 7 => Tea}",
            "[[-1,\"Coffee\"],[7,\"Tea\"]]",
        ),
    ] {
        let value = read_value(json, ty, &types).unwrap();
        assert_eq!(value.display(&types).to_string(), shown);
        let mut out = Vec::new();
        write_value(&value, &types, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), again);
        assert_eq!(read_value(again, ty, &types), Ok(value));
    }
    for (ty, json) in [
        (&set, "[\"a\",\"a\"]"),
        (&set, "[null]"),
        (&set, "{}"),
        (&words, "{\"a\":1,\"a\":2}"),
        (&words, "[]"),
        (&words, "{\"a\":\"x\"}"),
        (&numbers, "{\"1\":\"Tea\"}"),
        (&numbers, "[[1,\"Tea\"],[1,\"Tea\"]]"),
        (&numbers, "[[1]]"),
    ] {
        assert!(read_value(json, ty, &types).is_err(), "{json}");
    }
}
