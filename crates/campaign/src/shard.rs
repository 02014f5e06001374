//! One share of a campaign or of a suite, for machines that know nothing of each other.

use std::fmt;
use std::str::FromStr;

use ioco_engine::{Settings, test_seed};

use crate::error::CampaignError;

/// Share `index` of `of`, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    of: u64,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if 1 <= index && index <= of => Ok(Shard { index, of }),
            _ => Err("write 3/8 for the third of eight shares".to_owned()),
        }
    }
}

impl Shard {
    /// The other shares of the same campaign.
    pub(crate) fn others(self) -> impl Iterator<Item = Shard> {
        let all = (1..=self.of).map(move |index| Shard { index, of: self.of });
        all.filter(move |one| *one != self)
    }

    /// Whether both are shares of a campaign that was cut into the same number of them.
    pub(crate) fn fits(self, other: Shard) -> bool {
        self.of == other.of
    }

    /// Every item whose turn it is.
    pub(crate) fn share<T>(self, items: Vec<T>) -> Vec<T> {
        let own = |position: u64| position % self.of == self.index - 1;
        let numbered = (0..).zip(items);
        numbered
            .filter(|(position, _)| own(*position))
            .map(|(_, item)| item)
            .collect()
    }

    /// Gives the shard its own seed and its share of the tests. Together the shards run as many tests as one
    /// campaign would. Where the seed was not chosen, each machine's clock did already.
    pub(crate) fn apply(
        self,
        settings: &mut Settings,
        seed_is_chosen: bool,
    ) -> Result<(), CampaignError> {
        if seed_is_chosen && self.index > 1 {
            // As small as a seed of the clock, so that it can be typed.
            settings.seed = test_seed(settings.seed, self.index) % 1_000_000_000;
        }
        if let Some(tests) = settings.stop.tests {
            let share = tests / self.of + u64::from(self.index <= tests % self.of);
            if share == 0 {
                return Err(CampaignError::usage(format!(
                    "{tests} tests leave none for shard {self}"
                ))
                .hint(format!("use at most {tests} shards, or more tests")));
            }
            settings.stop.tests = Some(share);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_exactly_one_shard() {
        for of in 1..=9 {
            let mut all: Vec<u32> = Vec::new();
            for index in 1..=of {
                all.extend(Shard { index, of }.share((0..23).collect()));
            }
            all.sort_unstable();
            assert_eq!(all, (0..23).collect::<Vec<u32>>(), "{of} shards");
        }
    }

    #[test]
    fn the_tests_of_all_shards_add_up_and_their_seeds_differ() {
        let shards = (1..=8).map(|index| Shard { index, of: 8 });
        let settings = shards.map(|shard| {
            let mut settings = Settings {
                seed: 7,
                ..Settings::default()
            };
            shard.apply(&mut settings, true).expect("enough tests");
            settings
        });
        let settings: Vec<Settings> = settings.collect();
        let tests: u64 = settings.iter().filter_map(|s| s.stop.tests).sum();
        assert_eq!(tests, 100);
        let mut seeds: Vec<u64> = settings.iter().map(|s| s.seed).collect();
        assert_eq!(seeds[0], 7, "the first shard keeps the seed");
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 8);
    }

    #[test]
    fn a_shard_is_written_as_two_numbers() {
        assert_eq!("3/8".parse(), Ok(Shard { index: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "a/b", "", "3/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
