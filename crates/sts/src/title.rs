//! Locations in words. A location between two steps has no name in the model text and is called `_6` there; people
//! read `locked, after ?unlock` instead: the nearest named location before it, and what happened since.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::OnceLock;

use crate::ids::LocationId;
use crate::sts::Sts;

/// More steps than this say less than the name itself.
const MAX_TITLE_STEPS: usize = 3;

/// The titles of a system, made at the first question. They follow from the rest of it.
#[derive(Debug, Default)]
pub(crate) struct Titles(OnceLock<HashMap<LocationId, String>>);

impl Clone for Titles {
    /// A copy may get other labels.
    fn clone(&self) -> Titles {
        Titles::default()
    }
}

impl PartialEq for Titles {
    fn eq(&self, _: &Titles) -> bool {
        true
    }
}

impl Eq for Titles {}

impl Titles {
    pub fn of(&self, sts: &Sts, id: LocationId) -> Option<&str> {
        let titles = self.0.get_or_init(|| make(sts));
        titles.get(&id).map(String::as_str)
    }
}

/// Whether the model text gives no name: `_6`.
pub(crate) fn is_unnamed(name: &str) -> bool {
    let digits = name.strip_prefix('_').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Walks forward from all named locations at once, so that every location gets its shortest way.
fn make(sts: &Sts) -> HashMap<LocationId, String> {
    let all = || (0..sts.locations().len()).map(LocationId::from_index);
    let is_named = |id: LocationId| !is_unnamed(&sts.location(id).name);
    let mut ways: HashMap<LocationId, (LocationId, Vec<String>)> = HashMap::new();
    let mut queue: VecDeque<LocationId> = all().filter(|id| is_named(*id)).collect();
    let mut taken: HashSet<String> = queue
        .iter()
        .map(|id| sts.location(*id).name.clone())
        .collect();
    while let Some(from) = queue.pop_front() {
        let (start, way) = ways.get(&from).cloned().unwrap_or((from, Vec::new()));
        for switch in sts.outgoing(from).iter().map(|id| sts.switch(*id)) {
            let target = switch.target;
            if is_named(target) || ways.contains_key(&target) {
                continue;
            }
            let mut way = way.clone();
            way.extend(
                switch
                    .gate
                    .label()
                    .map(|label| sts.label(label).marked_name()),
            );
            if way.len() <= MAX_TITLE_STEPS {
                ways.insert(target, (start, way));
                queue.push_back(target);
            }
        }
    }
    let mut titles = HashMap::new();
    for id in all().filter(|id| !is_named(*id)) {
        let name = &sts.location(id).name;
        let Some((start, way)) = ways.get(&id).filter(|(_, way)| !way.is_empty()) else {
            continue;
        };
        let title = format!("{}, after {}", sts.location(*start).name, way.join(" "));
        // Two that would be the same are told apart by their names.
        let title = match taken.insert(title.clone()) {
            true => title,
            false => format!("{title} ({name})"),
        };
        titles.insert(id, title);
    }
    titles
}

#[cfg(test)]
mod tests {
    use crate::expr::Expr;
    use crate::label::{Direction, Label};
    use crate::sts::{Gate, Place, StsBuilder};

    #[test]
    fn a_location_without_a_name_is_called_by_what_led_there() {
        let mut builder = StsBuilder::new("door");
        let process = builder.process("door");
        let names = ["locked", "_1", "_2", "open", "_3"];
        let at = names.map(|name| builder.named_location(process, name));
        let [unlock, unlocked] = [
            ("unlock", Direction::Stimulus),
            ("unlocked", Direction::Response),
        ]
        .map(|(name, direction)| {
            builder.label(Label {
                name: name.to_owned(),
                channel: String::new(),
                direction,
                parameters: Vec::new(),
            })
        });
        for (from, label, to) in [(0, unlock, 1), (1, unlocked, 3), (0, unlock, 2)] {
            let gate = Gate::Observable(label);
            builder.switch(
                at[from],
                gate,
                Expr::TRUE,
                Vec::new(),
                at[to],
                Place::default(),
            );
        }
        let sts = builder.build();
        let title = |index: usize| sts.location_title(at[index]);
        assert_eq!(title(0), "locked");
        assert_eq!(title(1), "locked, after ?unlock");
        assert_eq!(title(2), "locked, after ?unlock (_2)");
        assert_eq!(title(4), "_3", "nothing leads there");
        assert_eq!(
            sts.switch_title(crate::SwitchId(1)),
            "locked, after ?unlock ──!unlocked──► open"
        );
    }
}
