//! The vending machine's flat labels: products and balances stand in the names.

use ioco_sts::Message;

const PRODUCTS: [&str; 5] = ["Coffee", "Espresso", "Double", "French", "Wiener"];
const MAX_BALANCE: i64 = 15;

fn products_and_none() -> impl Iterator<Item = &'static str> {
    std::iter::once("None").chain(PRODUCTS)
}

fn infos() -> Vec<String> {
    products_and_none()
        .flat_map(|product| (0..=MAX_BALANCE).map(move |amount| format!("Info_{product}_{amount}")))
        .collect()
}

pub fn stimuli() -> Vec<String> {
    let mut labels: Vec<String> = ["Coin1", "Coin2", "Reset", "Go"]
        .map(str::to_owned)
        .to_vec();
    labels.extend(PRODUCTS.map(|product| format!("Choice_{product}")));
    labels.extend(infos());
    labels
}

pub fn responses() -> Vec<String> {
    let mut labels: Vec<String> = PRODUCTS.map(|product| format!("Cup_{product}")).to_vec();
    labels.extend((1..=MAX_BALANCE).map(|amount| format!("Change_{amount}")));
    labels.extend(infos());
    labels
}

/// `Coffee_3` as a product and a balance.
fn product_and_amount(text: &str) -> Option<(&str, i64)> {
    let (product, amount) = text.split_once('_')?;
    let amount = amount.parse().ok()?;
    let known = products_and_none().any(|known| known == product);
    (known && (0..=MAX_BALANCE).contains(&amount)).then_some((product, amount))
}

fn product(text: &str) -> Option<&str> {
    PRODUCTS.contains(&text).then_some(text)
}

pub fn stimulus_to_data(label: &str) -> Option<Message> {
    match label {
        "Coin1" => return Some(Message::plain("Coin").with("value", 1)),
        "Coin2" => return Some(Message::plain("Coin").with("value", 2)),
        "Reset" | "Go" => return Some(Message::plain(label)),
        _ => {}
    }
    let (kind, rest) = label.split_once('_')?;
    match kind {
        "Choice" => Some(Message::plain("Choice").with("product", product(rest)?)),
        "Info" => product_and_amount(rest).map(|_| Message::plain("Info")),
        _ => None,
    }
}

pub fn response_to_data(label: &str) -> Option<Message> {
    let (kind, rest) = label.split_once('_')?;
    match kind {
        "Cup" => Some(Message::plain("Cup").with("product", product(rest)?)),
        "Change" => {
            let amount: i64 = rest.parse().ok()?;
            (1..=MAX_BALANCE)
                .contains(&amount)
                .then(|| Message::plain("Change").with("amount", amount))
        }
        "Info" => {
            let (product, amount) = product_and_amount(rest)?;
            Some(
                Message::plain("Info")
                    .with("product", product)
                    .with("amount", amount),
            )
        }
        _ => None,
    }
}

pub fn response_to_flat(response: &Message) -> String {
    let mut text = response.label.clone();
    for part in [
        response.text("product").map(str::to_owned),
        response.integer("amount").map(|amount| amount.to_string()),
    ]
    .into_iter()
    .flatten()
    {
        text.push('_');
        text.push_str(&part);
    }
    text
}
