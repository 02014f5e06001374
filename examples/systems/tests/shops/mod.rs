//! Stimuli for the shop of videos.

#![allow(dead_code, reason = "not every test file needs all stimuli")]

use ioco_examples::Message;

const CATEGORIES: [&str; 4] = ["action", "drama", "documentary", "music"];
const CLASSES: [&str; 3] = ["top40", "new", "other"];

/// A shop with this stock: a row per category, a column per class.
pub fn stock(hundreds: i64, movies: [[i64; 3]; 4]) -> Message {
    let mut message = Message::plain("shop").with("hundreds", hundreds);
    for (category, row) in CATEGORIES.iter().zip(movies) {
        for (class, movies) in CLASSES.iter().zip(row) {
            message = message.with(&format!("{category}_{class}"), movies);
        }
    }
    message
}

/// Table 1 of the paper.
pub fn example_1() -> Message {
    stock(
        20,
        [
            [60, 40, 100],
            [250, 200, 50],
            [175, 175, 150],
            [160, 160, 480],
        ],
    )
}

/// Shops of all kinds, by number.
pub fn shop(number: u64) -> Message {
    let mut random = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |sides: i64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as i64 % sides
    };
    let hundreds = 1 + below(12);
    let mut left = 100 * hundreds;
    let mut movies = [[0; 3]; 4];
    while left > 0 {
        let part = (1 + below(60)).min(left);
        movies[below(4) as usize][below(3) as usize] += part;
        left -= part;
    }
    stock(hundreds, movies)
}

/// Profiles other than the usual one.
pub fn profiles() -> Vec<Message> {
    let profile = |label: &str, names: &[&str], wanted: &[[i64; 3]]| {
        let mut message = Message::plain(label);
        for (name, [min, opt, max]) in names.iter().zip(wanted) {
            message = message
                .with(&format!("{name}_min"), *min)
                .with(&format!("{name}_opt"), *opt)
                .with(&format!("{name}_max"), *max);
        }
        message
    };
    let categories = |wanted: [[i64; 3]; 4]| profile("categories", &CATEGORIES, &wanted);
    let classes = |wanted: [[i64; 3]; 3]| profile("classes", &CLASSES, &wanted);
    vec![
        categories([[10, 40, 45], [0, 10, 100], [20, 30, 31], [15, 20, 90]]),
        categories([[15, 25, 50], [20, 25, 30], [10, 25, 60], [5, 25, 40]]),
        classes([[33, 33, 33], [33, 33, 40], [0, 34, 34]]),
        classes([[0, 10, 100], [50, 60, 61], [10, 30, 35]]),
    ]
}
