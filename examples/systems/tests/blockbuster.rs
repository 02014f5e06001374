//! The shop of videos: the numbers of the paper.

mod shops;
mod walk;

use ioco_examples::{Message, system};
use ioco_sts::{Direction, Step};

/// Example 1: Table 1 under the profile of Table 2.
fn first_transaction() -> Message {
    Message::plain("transaction")
        .with("buy", "Action")
        .with("sell", "Music")
        .with("number", 300)
        .with("buy_top40", 140)
        .with("buy_new", 110)
        .with("buy_other", 50)
        .with("sell_top40", 0)
        .with("sell_new", 0)
        .with("sell_other", 300)
}

#[test]
fn the_system_proposes_the_transaction_of_example_1_and_no_other() {
    let mut shop = system("blockbuster", None).expect("a listed system");
    assert_eq!(shop.give(&shops::example_1()), [first_transaction()]);
}

#[test]
fn the_model_allows_the_transaction_of_example_1_and_no_other() {
    let sts = walk::model(&walk::examples().join("blockbuster/model.aml"));
    let mut semantics = walk::semantics(&sts);
    let shop = walk::step(&sts, Direction::Stimulus, &shops::example_1()).expect("a stimulus");
    let initial = semantics.initial();
    let busy = semantics
        .after(initial, &shop)
        .expect("an offered stimulus");
    assert_eq!(
        semantics.after(busy, &Step::Quiescence),
        None,
        "an answer is due"
    );

    let right = walk::step(&sts, Direction::Response, &first_transaction()).expect("a response");
    let done = semantics
        .after(busy, &right)
        .expect("the transaction of the paper");
    assert!(
        semantics.after(done, &Step::Quiescence).is_some(),
        "one is enough"
    );
    assert!(semantics.after(done, &shop).is_some(), "the next shop");

    for position in 0..first_transaction().values.len() {
        let mut wrong = first_transaction();
        let (name, value) = &mut wrong.values[position];
        *value = match name.as_str() {
            "buy" | "sell" => "Drama".into(),
            _ => 7.into(),
        };
        let name = name.clone();
        let wrong = walk::step(&sts, Direction::Response, &wrong).expect("a response");
        assert_eq!(semantics.after(busy, &wrong), None, "{name}");
    }
}
