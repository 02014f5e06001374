//! How far it is, at least: observable steps from locations and progress to the end of a pattern,
//! as if every guard held. Where the numbers say that it is too far, no solver is asked.

use std::collections::VecDeque;

use ioco_sts::{LocationId, Sts};
use rustc_hash::FxHashMap;

use super::pattern::{Pattern, Progress};
use crate::moves::{MoveTable, target};

/// Combinations of locations and progress that are looked at, at most.
const MAX_PLACES: usize = 100_000;

type Place = (Box<[LocationId]>, u32);

/// Distances to the end of one pattern.
#[derive(Default)]
pub(crate) struct Distances {
    distance: FxHashMap<Place, u32>,
    /// Everything that can be reached was looked at: what has no distance has no way.
    complete: bool,
}

impl Distances {
    pub fn new(
        sts: &Sts,
        pattern: &Pattern,
        starts: impl Iterator<Item = (Box<[LocationId]>, Progress)>,
        moves: &mut MoveTable,
    ) -> Distances {
        // Counts in gaps are left out: distances get smaller by that, never larger.
        let mut numbers: FxHashMap<Place, usize> = FxHashMap::default();
        let mut places: Vec<Place> = Vec::new();
        let mut before: Vec<Vec<(usize, u32)>> = Vec::new();
        let mut enter = |place: Place, places: &mut Vec<Place>, before: &mut Vec<_>| {
            *numbers.entry(place).or_insert_with_key(|place| {
                places.push(place.clone());
                before.push(Vec::new());
                places.len() - 1
            })
        };
        for (locations, progress) in starts {
            enter((locations, progress.item), &mut places, &mut before);
        }
        let mut index = 0;
        while index < places.len() {
            if places.len() > MAX_PLACES {
                return Distances::default();
            }
            let (locations, item) = places[index].clone();
            let mut edges: Vec<(Place, u32)> = Vec::new();
            // Without a count, a gap may end here or have had its fill already.
            let at = Progress { item, count: 0 };
            let full = Progress {
                item,
                count: u32::MAX,
            };
            for progress in [at, full] {
                if let Some((next, _)) = pattern.idle(progress, &locations) {
                    edges.push(((locations.clone(), next.item), 0));
                }
            }
            for step in moves.from(sts, &locations).iter() {
                let to = target(sts, &locations, step);
                for (next, _) in pattern.after(at, step) {
                    edges.push(((to.clone(), next.item), u32::from(step.observable)));
                }
            }
            for (place, cost) in edges {
                let to = enter(place, &mut places, &mut before);
                before[to].push((index, cost));
            }
            index += 1;
        }
        let mut distance = vec![u32::MAX; places.len()];
        let mut queue = VecDeque::new();
        for (index, (_, item)) in places.iter().enumerate() {
            if pattern.is_complete(Progress {
                item: *item,
                count: 0,
            }) {
                distance[index] = 0;
                queue.push_back((0, index));
            }
        }
        while let Some((known, index)) = queue.pop_front() {
            if known > distance[index] {
                continue;
            }
            for &(from, cost) in &before[index] {
                let through = known + cost;
                if through < distance[from] {
                    distance[from] = through;
                    match cost {
                        0 => queue.push_front((through, from)),
                        _ => queue.push_back((through, from)),
                    }
                }
            }
        }
        let reached = places.into_iter().zip(distance);
        Distances {
            distance: reached
                .filter(|(_, distance)| *distance < u32::MAX)
                .collect(),
            complete: true,
        }
    }

    /// Steps to the end at least; `None` where there is no way, whatever the data.
    pub fn distance(&self, locations: &[LocationId], progress: Progress) -> Option<u32> {
        let known = self.distance.get(&(locations.into(), progress.item));
        match known {
            Some(distance) => Some(*distance),
            None if self.complete => None,
            None => Some(0),
        }
    }
}
