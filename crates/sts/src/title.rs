//! Locations in words. A location between two steps has no name in the model text and is called `_6` there; people
//! read `locked, after ?unlock` instead: the nearest named location before it, and what happened since.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::OnceLock;

use crate::expr::Expr;
use crate::ids::{LocationId, SwitchId};
use crate::show::show_expr;
use crate::sts::Sts;

/// More steps than this say less than the name itself.
const MAX_TITLE_STEPS: usize = 3;

/// A guard with more characters is cut off; the graph shows the whole of it.
const MAX_TITLE_GUARD: usize = 40;

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

/// How a location is reached: the nearest named location, the labels since, and the last switch.
struct Way {
    start: LocationId,
    labels: Vec<String>,
    last: Option<SwitchId>,
}

/// Walks forward from all named locations at once, so that every location gets its shortest way.
fn make(sts: &Sts) -> HashMap<LocationId, String> {
    let ways = ways(sts);
    let unnamed: Vec<LocationId> = all(sts).filter(|id| !sts.is_named(*id)).collect();
    let named = all(sts).filter(|id| sts.is_named(*id));
    let mut taken: HashSet<String> = named.map(|id| sts.location(id).name.clone()).collect();
    let plain = |id: &LocationId| {
        let way = ways.get(id).filter(|way| !way.labels.is_empty())?;
        let start = &sts.location(way.start).name;
        Some(format!("{start}, after {}", way.labels.join(" ")))
    };
    let mut times: HashMap<String, usize> = HashMap::new();
    for title in unnamed.iter().filter_map(plain) {
        *times.entry(title).or_default() += 1;
    }
    let mut titles = HashMap::new();
    for id in unnamed {
        let Some(mut title) = plain(&id) else {
            continue;
        };
        // The guard of the last switch tells locations apart that the same labels lead to.
        if times[&title] > 1
            && let Some(last) = ways[&id].last
            && let Some(guard) = shortened_guard(sts, last)
        {
            title.push_str(&format!(" [{guard}]"));
        }
        if taken.contains(&title) {
            title.push_str(&format!(" ({})", sts.location(id).name));
        }
        taken.insert(title.clone());
        titles.insert(id, title);
    }
    titles
}

fn all(sts: &Sts) -> impl Iterator<Item = LocationId> {
    (0..sts.locations().len()).map(LocationId::from_index)
}

fn ways(sts: &Sts) -> HashMap<LocationId, Way> {
    let mut ways: HashMap<LocationId, Way> = HashMap::new();
    let mut queue: VecDeque<LocationId> = all(sts).filter(|id| sts.is_named(*id)).collect();
    while let Some(from) = queue.pop_front() {
        for id in sts.outgoing(from) {
            let switch = sts.switch(*id);
            let target = switch.target;
            if sts.is_named(target) || ways.contains_key(&target) {
                continue;
            }
            let (start, mut labels) = match ways.get(&from) {
                Some(way) => (way.start, way.labels.clone()),
                None => (from, Vec::new()),
            };
            let label = switch.gate.label();
            labels.extend(label.map(|label| sts.label(label).marked_name()));
            if labels.len() <= MAX_TITLE_STEPS {
                let last = Some(*id);
                ways.insert(
                    target,
                    Way {
                        start,
                        labels,
                        last,
                    },
                );
                queue.push_back(target);
            }
        }
    }
    ways
}

/// What the person wrote as the guard of a switch, cut off where it is long; `None` where there is none.
fn shortened_guard(sts: &Sts, id: SwitchId) -> Option<String> {
    let switch = sts.switch(id);
    if switch.guard == Expr::TRUE {
        return None;
    }
    let text = show_expr(sts, switch.gate.label(), &switch.guard);
    if text.chars().count() <= MAX_TITLE_GUARD {
        return Some(text);
    }
    let kept: String = text.chars().take(MAX_TITLE_GUARD - 1).collect();
    Some(format!("{}…", kept.trim_end()))
}

/// The text with titles in place of names, where it shows switches or a location: what was stored under names is
/// shown to people.
pub(crate) fn titled(sts: &Sts, text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_place = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|word| word.ends_with("──►") || at == 1 && *word == "location")
            || words.get(at + 1).is_some_and(|word| word.starts_with("──"))
    };
    let shown = words.iter().enumerate().map(|(at, word)| {
        let named = (is_unnamed(word) && is_place(at)).then(|| sts.location_named(word));
        named.flatten().map_or(*word, |id| sts.location_title(id))
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use crate::expr::{BinaryOp, Expr};
    use crate::ids::{LabelId, LocationId};
    use crate::label::{Direction, Label, Parameter};
    use crate::sts::{Gate, Place, Sts, StsBuilder};
    use crate::types::Type;
    use crate::value::Value;

    const NAMES: [&str; 8] = ["locked", "_1", "_2", "open", "_3", "_4", "_5", "_6"];

    fn label(name: &str, direction: Direction) -> Label {
        Label {
            name: name.to_owned(),
            channel: String::new(),
            direction,
            parameters: vec![Parameter {
                name: "code".to_owned(),
                ty: Type::INTEGER,
            }],
        }
    }

    fn compared(op: BinaryOp, value: i64) -> Expr {
        let both = [Expr::Param(0), Expr::Const(Value::Int(value))];
        Expr::Binary(op, Box::new(both))
    }

    /// `locked` is left by ?unlock with several guards.
    fn door(guards: [Expr; 5]) -> (Sts, [LocationId; 8]) {
        let mut builder = StsBuilder::new("door");
        let process = builder.process("door");
        let at = NAMES.map(|name| builder.named_location(process, name));
        let unlock = builder.label(label("unlock", Direction::Stimulus));
        let unlocked = builder.label(label("unlocked", Direction::Response));
        let mut add = |from: usize, label: LabelId, guard: Expr, to: usize| {
            let gate = Gate::Observable(label);
            builder.switch(at[from], gate, guard, Vec::new(), at[to], Place::default());
        };
        let [first, second, third, fourth, fifth] = guards;
        add(0, unlock, first, 1);
        add(1, unlocked, Expr::TRUE, 3);
        add(0, unlock, second, 2);
        add(3, unlock, third, 5);
        add(3, unlock, fourth, 6);
        add(3, unlock, fifth, 7);
        (builder.build(), at)
    }

    #[test]
    fn a_location_without_a_name_is_called_by_what_led_there() {
        let long = (0..20).fold(Expr::TRUE, |all, value| {
            Expr::Binary(
                BinaryOp::And,
                Box::new([all, compared(BinaryOp::Ne, value)]),
            )
        });
        let (sts, at) = door([
            compared(BinaryOp::Eq, 7),
            compared(BinaryOp::Ne, 7),
            Expr::TRUE,
            compared(BinaryOp::Gt, 5),
            long,
        ]);
        let title = |index: usize| sts.location_title(at[index]);
        assert_eq!(title(0), "locked");
        assert_eq!(title(1), "locked, after ?unlock [code == 7]");
        assert_eq!(title(2), "locked, after ?unlock [code != 7]");
        assert_eq!(title(4), "_3", "nothing leads there");
        assert_eq!(title(5), "open, after ?unlock", "the one without a guard");
        assert_eq!(title(6), "open, after ?unlock [code > 5]");
        let shortened = title(7);
        assert!(shortened.ends_with("…]"), "{shortened}");
        assert!(shortened.chars().count() < 70, "{shortened}");
        assert_eq!(
            sts.switch_title(crate::SwitchId(1)),
            "locked, after ?unlock [code == 7] ──!unlocked──► open"
        );
    }

    #[test]
    fn the_name_tells_apart_what_no_guard_does() {
        let same = || compared(BinaryOp::Eq, 7);
        let (sts, at) = door([Expr::TRUE, Expr::TRUE, same(), same(), Expr::TRUE]);
        let title = |index: usize| sts.location_title(at[index]);
        assert_eq!(title(1), "locked, after ?unlock");
        assert_eq!(title(2), "locked, after ?unlock (_2)");
        assert_eq!(title(5), "open, after ?unlock [code == 7]");
        assert_eq!(title(6), "open, after ?unlock [code == 7] (_5)");
    }

    #[test]
    fn what_is_stored_under_names_is_shown_with_titles() {
        let (sts, _) = door([(); 5].map(|()| Expr::TRUE));
        let titled = |text: &str| sts.titled(text);
        assert_eq!(
            titled("switch _1 ──!unlocked──► open (door.aml:3) (and 2 more)"),
            "switch locked, after ?unlock ──!unlocked──► open (door.aml:3) (and 2 more)"
        );
        assert_eq!(
            titled("switch locked ──?unlock──► _2"),
            "switch locked ──?unlock──► locked, after ?unlock (_2)"
        );
        assert_eq!(titled("location _1"), "location locked, after ?unlock");
        for same in ["known failure _1", "location _99", "test 7", "_1"] {
            assert_eq!(titled(same), same);
        }
    }
}
