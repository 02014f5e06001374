//! A system in parts, for files that are drawings of it at the same time: the drawing has the
//! locations and arrows, and carries beside them, as JSON, what it cannot show exactly.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use super::super::FormatError;
use ioco_budget::Budget;
use ioco_sts::{Sts, SwitchId, show_switch_label};

use super::read::{Wrong, revive};
use super::saved::{SavedLocation, SavedSts, SavedSwitch};
use super::write::save;

/// Everything but locations and switches.
pub fn head(sts: &Sts) -> Json {
    let mut saved = save(sts);
    saved.locations.clear();
    saved.switches.clear();
    to_json(&saved)
}

/// One JSON object per location.
pub fn locations(sts: &Sts) -> Vec<Json> {
    save(sts).locations.iter().map(to_json).collect()
}

/// One JSON object per switch, without the ends of its arrow.
pub fn switches(sts: &Sts) -> Vec<Json> {
    let bare = |saved: &SavedSwitch| {
        let mut json = to_json(saved);
        if let Json::Object(fields) = &mut json {
            fields.remove("source");
            fields.remove("target");
        }
        json
    };
    save(sts).switches.iter().map(bare).collect()
}

fn to_json(saved: &impl serde::Serialize) -> Json {
    serde_json::to_value(saved).expect("saved types have text for keys")
}

/// A drawing as it was read, with the identifiers that it gives to locations.
#[derive(Default)]
pub struct Drawn {
    /// The JSON of [`head`], and its line.
    pub head: (u32, Json),
    pub initial: Vec<DrawnStart>,
    pub locations: Vec<DrawnLocation>,
    pub switches: Vec<DrawnSwitch>,
}

/// The arrow to the initial location of a process.
pub struct DrawnStart {
    pub line: u32,
    pub process: usize,
    pub location: String,
}

pub struct DrawnLocation {
    pub line: u32,
    pub id: String,
    /// The name that the drawing shows.
    pub shown: String,
    pub json: Json,
}

impl DrawnLocation {
    /// Locations come in the order of their numbers, which a drawing of several processes need not
    /// keep.
    fn number(&self) -> u64 {
        let digits = self.id.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(u64::MAX)
    }
}

pub struct DrawnSwitch {
    pub line: u32,
    /// Switches come in the order of their numbers.
    pub number: u64,
    pub source: String,
    pub target: String,
    /// The label that the drawing shows.
    pub shown: String,
    pub json: Json,
}

impl Drawn {
    /// The system, where the parts fit together and say what the drawing shows.
    pub fn assemble(
        mut self,
        same: impl Fn(&Sts, SwitchId, &str) -> bool,
        budget: &Budget,
    ) -> Result<Sts, FormatError> {
        let (head_line, head) = self.head;
        let mut saved: SavedSts = parse(head_line, head)?;
        self.locations.sort_by_key(DrawnLocation::number);
        self.switches.sort_by_key(|switch| switch.number);
        let mut positions: FxHashMap<String, u32> = FxHashMap::default();
        let mut lines = (Vec::new(), Vec::new());
        for drawn in self.locations {
            let location: SavedLocation = parse(drawn.line, drawn.json)?;
            if tidy(&location.name) != tidy(&drawn.shown) {
                return Err(changed(drawn.line, &drawn.shown, &location.name));
            }
            if positions.contains_key(&drawn.id) {
                let message = format!("the location `{}` is there twice", drawn.id);
                return Err(FormatError::new(drawn.line, message));
            }
            positions.insert(drawn.id, saved.locations.len() as u32);
            lines.0.push(drawn.line);
            saved.locations.push(location);
        }
        let position = |line: u32, id: &str| match positions.get(id) {
            Some(position) => Ok(*position),
            None => Err(FormatError::new(
                line,
                format!("there is no location `{id}`"),
            )),
        };
        for (index, process) in saved.processes.iter_mut().enumerate() {
            let Some(start) = self.initial.iter().find(|start| start.process == index) else {
                let message = format!("no arrow marks where process {index} starts");
                return Err(FormatError::new(head_line, message));
            };
            process.initial = position(start.line, &start.location)?;
        }
        let mut shown = Vec::new();
        for drawn in self.switches {
            let mut json = match drawn.json {
                Json::Object(fields) => fields,
                _ => Map::new(),
            };
            let source = position(drawn.line, &drawn.source)?;
            let target = position(drawn.line, &drawn.target)?;
            json.insert("source".to_owned(), source.into());
            json.insert("target".to_owned(), target.into());
            saved.switches.push(parse(drawn.line, json.into())?);
            lines.1.push(drawn.line);
            shown.push(drawn.shown);
        }
        let sts = revive(&saved, budget).map_err(|wrong| {
            let Wrong { place, message } = wrong;
            let line = match place {
                Some(("locations", index)) => lines.0[index],
                Some(("switches", index)) => lines.1[index],
                _ => head_line,
            };
            FormatError::new(line, message)
        })?;
        for (index, shown) in shown.iter().enumerate() {
            let id = SwitchId::from_index(index);
            if !same(&sts, id, shown) {
                let exact = show_switch_label(&sts, id);
                return Err(changed(lines.1[index], shown, &exact));
            }
        }
        Ok(sts)
    }
}

/// Whether a drawing's label is that of the switch, but for white space at its ends.
pub fn same_label(sts: &Sts, id: SwitchId, shown: &str) -> bool {
    tidy(&show_switch_label(sts, id)) == tidy(shown)
}

/// Drawings do not keep everything about white space.
fn tidy(text: &str) -> String {
    text.replace('\r', "").trim().to_owned()
}

fn changed(line: u32, shown: &str, exact: &str) -> FormatError {
    FormatError::new(
        line,
        format!(
            "the drawing shows `{shown}`, and the data that ioco keeps beside it says `{exact}`: \
             change both, or remove all `ioco` data to have the drawing read alone"
        ),
    )
}

fn parse<T: serde::de::DeserializeOwned>(line: u32, json: Json) -> Result<T, FormatError> {
    serde_json::from_value(json)
        .map_err(|error| FormatError::new(line, format!("the `ioco` data is not right: {error}")))
}
