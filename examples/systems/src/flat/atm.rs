//! The cash machine's flat labels: bills and balances stand in the names. A PIN carries the balance
//! of the card it belongs to, which says nothing new.

use ioco_sts::Message;

const BILLS: [i64; 5] = [5, 10, 20, 50, 100];
const MAX_BALANCE: i64 = 500;

fn balances() -> impl Iterator<Item = i64> {
    (0..=MAX_BALANCE).step_by(5)
}

pub fn stimuli() -> Vec<String> {
    let mut labels: Vec<String> = ["Balance", "Exit"].map(str::to_owned).to_vec();
    for bill in BILLS {
        labels.push(format!("Withdraw_{bill}"));
        labels.push(format!("Deposit_{bill}"));
    }
    for balance in balances() {
        labels.push(format!("Insert_card_valid_{balance}"));
        labels.push(format!("Insert_card_invalid_{balance}"));
        labels.push(format!("Correct_PIN_{balance}"));
        labels.push(format!("Incorrect_PIN_{balance}"));
    }
    labels
}

const PLAIN_RESPONSES: [&str; 6] = [
    "Card_valid",
    "Card_invalid",
    "Card_blocked",
    "PIN_correct",
    "PIN_incorrect",
    "Insufficient_balance",
];

pub fn responses() -> Vec<String> {
    let mut labels: Vec<String> = PLAIN_RESPONSES.map(str::to_owned).to_vec();
    labels.extend(BILLS.map(|bill| bill.to_string()));
    for balance in balances() {
        labels.push(format!("Card_{balance}"));
        labels.push(format!("Balance: {balance}"));
    }
    labels
}

fn bill(text: &str) -> Option<i64> {
    text.parse().ok().filter(|bill| BILLS.contains(bill))
}

fn balance(text: &str) -> Option<i64> {
    text.parse()
        .ok()
        .filter(|balance| (0..=MAX_BALANCE).contains(balance) && balance % 5 == 0)
}

fn card(valid: bool, balance: i64) -> Message {
    Message::plain("Insert_card")
        .with("valid", valid)
        .with("balance", balance)
}

fn pin(correct: bool) -> Message {
    Message::plain("PIN").with("correct", correct)
}

pub fn stimulus_to_data(label: &str) -> Option<Message> {
    if matches!(label, "Balance" | "Exit") {
        return Some(Message::plain(label));
    }
    let (kind, amount) = label.rsplit_once('_')?;
    match kind {
        "Withdraw" | "Deposit" => Some(Message::plain(kind).with("bill", bill(amount)?)),
        "Insert_card_valid" => Some(card(true, balance(amount)?)),
        "Insert_card_invalid" => Some(card(false, balance(amount)?)),
        "Correct_PIN" => balance(amount).map(|_| pin(true)),
        "Incorrect_PIN" => balance(amount).map(|_| pin(false)),
        _ => None,
    }
}

pub fn response_to_data(label: &str) -> Option<Message> {
    if PLAIN_RESPONSES.contains(&label) {
        return Some(Message::plain(label));
    }
    if let Some(amount) = label.strip_prefix("Balance: ") {
        return Some(Message::plain("Balance").with("amount", balance(amount)?));
    }
    if let Some(amount) = label.strip_prefix("Card_") {
        return Some(Message::plain("Card").with("balance", balance(amount)?));
    }
    Some(Message::plain("Cash").with("bill", bill(label)?))
}

pub fn response_to_flat(response: &Message) -> String {
    let amount = ["amount", "balance", "bill"]
        .into_iter()
        .find_map(|name| response.integer(name));
    match (response.label.as_str(), amount) {
        ("Balance", Some(amount)) => format!("Balance: {amount}"),
        ("Card", Some(amount)) => format!("Card_{amount}"),
        ("Cash", Some(bill)) => bill.to_string(),
        (label, _) => label.to_owned(),
    }
}
