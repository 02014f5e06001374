//! Reading GraphWalker's JSON.

use std::collections::BTreeSet;

use ioco_budget::Budget;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::script::{self, Assigned, BadScript, Node};
use super::typed::Variables;
use super::{DATA, write};
use crate::json::{Drawn, DrawnLocation, DrawnStart, DrawnSwitch};
use crate::labels::Labels;
use crate::{FormatError, LabelMap, lines};
use ioco_sts::{
    Direction, Env, Expr, Gate, Location, LocationId, Place, ProcessId, Sts, StsBuilder, Type,
    Value, Variable,
};

/// How to take the names of edges and vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphWalkerOptions {
    /// What edges are; one that nothing speaks of is a stimulus.
    pub labels: LabelMap,
    /// A vertex with a name is also a response, which the system gives on arrival.
    pub vertices: bool,
    /// Limits on what guards and actions may ask for.
    pub budget: Budget,
}

#[derive(Deserialize)]
struct SavedFile<'a> {
    #[serde(borrow)]
    models: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedModel<'a> {
    name: Option<String>,
    actions: Option<Vec<String>>,
    start_element_id: Option<String>,
    properties: Option<Json>,
    #[serde(borrow)]
    vertices: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    edges: Option<Vec<&'a RawValue>>,
}

/// A vertex or an edge; vertices have no ends and no guard.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedElement {
    id: String,
    name: Option<String>,
    shared_state: Option<String>,
    source_vertex_id: Option<String>,
    target_vertex_id: Option<String>,
    guard: Option<String>,
    actions: Option<Vec<String>>,
    properties: Option<Json>,
}

impl SavedElement {
    fn property(&self, name: &str) -> Option<&Json> {
        self.properties.as_ref()?.get(name)
    }

    /// `vertex 'v_Home'`, for messages.
    fn show(&self, kind: &str) -> String {
        format!("{kind} '{}'", self.name.as_deref().unwrap_or(&self.id))
    }
}

struct Element {
    line: u32,
    saved: SavedElement,
}

struct Model {
    line: u32,
    name: String,
    actions: Option<Vec<String>>,
    start: Option<String>,
    data: Option<Json>,
    vertices: Vec<Element>,
    edges: Vec<Element>,
}

/// Reads a file; `name` becomes the name of the system and of its file in messages.
pub fn read(name: &str, text: &str, options: &GraphWalkerOptions) -> Result<Sts, FormatError> {
    let file: SavedFile<'_> =
        serde_json::from_str(text).map_err(|error| lines::json_error(&error))?;
    let models = file.models.iter().map(|raw| model(text, raw));
    let models: Vec<Model> = models.collect::<Result<_, _>>()?;
    match &models[..] {
        [] => Err(FormatError::new(0, "there is no model in this file")),
        [one] if one.data.is_some() => drawn(one).assemble(write::says, &options.budget),
        _ => GraphReader::new(name, &models, options)?.read(),
    }
}

/// A part of the file, with the line where it begins.
fn part<'a, T: Deserialize<'a>>(text: &str, raw: &'a RawValue) -> Result<(u32, T), FormatError> {
    let line = lines::line_of_part(text, raw.get());
    let parsed = serde_json::from_str(raw.get()).map_err(|error| {
        let error = lines::json_error(&error);
        FormatError {
            line: error.line.max(1) + line - 1,
            ..error
        }
    });
    Ok((line, parsed?))
}

fn model(text: &str, raw: &RawValue) -> Result<Model, FormatError> {
    let (line, saved): (u32, SavedModel<'_>) = part(text, raw)?;
    let elements = |list: Option<Vec<&RawValue>>| -> Result<Vec<Element>, FormatError> {
        let all = list.unwrap_or_default().into_iter();
        all.map(|raw| {
            let (line, saved) = part(text, raw)?;
            Ok(Element { line, saved })
        })
        .collect()
    };
    let data = saved.properties.as_ref().and_then(|p| p.get(DATA)).cloned();
    Ok(Model {
        line,
        name: saved.name.unwrap_or_else(|| "model".to_owned()),
        actions: saved.actions,
        start: saved.start_element_id,
        data,
        vertices: elements(saved.vertices)?,
        edges: elements(saved.edges)?,
    })
}

/// A model that this program has written.
fn drawn(model: &Model) -> Drawn {
    let json = |element: &Element| element.saved.property(DATA).cloned().unwrap_or_default();
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    Drawn {
        head: (model.line, model.data.clone().unwrap_or_default()),
        initial: vec![DrawnStart {
            line: model.line,
            process: 0,
            location: text(&model.start),
        }],
        locations: model
            .vertices
            .iter()
            .map(|vertex| DrawnLocation {
                line: vertex.line,
                id: vertex.saved.id.clone(),
                shown: text(&vertex.saved.name),
                json: json(vertex),
            })
            .collect(),
        switches: (0..)
            .zip(&model.edges)
            .map(|(number, edge)| DrawnSwitch {
                line: edge.line,
                number,
                source: text(&edge.saved.source_vertex_id),
                target: text(&edge.saved.target_vertex_id),
                shown: write::in_one(
                    edge.saved.name.as_deref(),
                    edge.saved.guard.as_deref(),
                    edge.saved.actions.as_deref().unwrap_or_default(),
                ),
                json: json(edge),
            })
            .collect(),
    }
}

/// A script with where it stands.
struct Script<'a> {
    line: u32,
    what: String,
    text: &'a str,
}

impl Script<'_> {
    fn error(&self, bad: BadScript) -> FormatError {
        let BadScript { column, message } = bad;
        let Script { line, what, text } = self;
        FormatError::new(
            *line,
            format!("{what} `{text}`, column {column}: {message}"),
        )
    }

    /// All actions of a list, which are run one after the other.
    fn actions<'a>(
        line: u32,
        what: &str,
        actions: Option<&'a [String]>,
        budget: &Budget,
    ) -> Result<Vec<(Script<'a>, Vec<Assigned>)>, FormatError> {
        let mut found = Vec::new();
        for text in actions.unwrap_or_default() {
            let script = Script {
                line,
                what: format!("the action of {what}"),
                text,
            };
            let statements = script::statements(text, budget).map_err(|bad| script.error(bad))?;
            found.push((script, statements));
        }
        Ok(found)
    }
}

/// Scripts of one model, in order.
type Scripts<'a> = Vec<(Script<'a>, Vec<Assigned>)>;

/// The model and the id of the edge that is taken before all others.
type FirstEdge<'a> = Option<(usize, &'a str)>;

struct GraphReader<'a> {
    models: &'a [Model],
    options: &'a GraphWalkerOptions,
    variables: Variables,
    builder: StsBuilder,
    labels: Labels,
    /// By model and id of the vertex.
    locations: FxHashMap<(usize, &'a str), LocationId>,
    places: usize,
}

const PROCESS: ProcessId = ProcessId(0);

impl<'a> GraphReader<'a> {
    fn new(
        name: &'a str,
        models: &'a [Model],
        options: &'a GraphWalkerOptions,
    ) -> Result<GraphReader<'a>, FormatError> {
        let mut builder = StsBuilder::new(name);
        builder.file(name);
        builder.process("main");
        Ok(GraphReader {
            models,
            options,
            variables: learn(models, &options.budget)?,
            builder,
            labels: Labels::default(),
            locations: FxHashMap::default(),
            places: 0,
        })
    }

    fn read(mut self) -> Result<Sts, FormatError> {
        self.declare()?;
        self.vertices()?;
        let (initial, first) = self.start()?;
        self.builder.initial(PROCESS, initial);
        for (number, model) in self.models.iter().enumerate() {
            for edge in model.edges.iter().filter(|edge| !is_blocked(edge)) {
                self.edge(number, edge, initial, &first)?;
            }
        }
        let sts = self.builder.build();
        joined(&sts, self.models, &self.locations)?;
        Ok(sts)
    }

    /// The variables, with what the actions of the models themselves give them.
    fn declare(&mut self) -> Result<(), FormatError> {
        let names: Vec<String> = self.models.iter().map(|m| m.name.clone()).collect();
        let all = self.variables.all(&names);
        let mut values: Vec<Value> = vec![Value::Void; all.len()];
        for (number, model) in self.models.iter().enumerate() {
            let what = format!("model '{}'", model.name);
            let budget = &self.options.budget;
            let actions = Script::actions(model.line, &what, model.actions.as_deref(), budget)?;
            for (script, statements) in actions {
                let update = self.variables.update(number, &statements, budget);
                let update = update.map_err(|bad| script.error(bad))?;
                let env = Env {
                    variables: &values,
                    parameters: &[],
                    functions: &[],
                };
                let mut next = values.clone();
                for assignment in &update {
                    let value = assignment.value.eval(env).map_err(|error| {
                        let message = format!("{} `{}`: {error}", script.what, script.text);
                        FormatError::new(script.line, message)
                    })?;
                    next[assignment.variable.index()] = value;
                }
                values = next;
            }
        }
        for ((name, ty), initial) in all.into_iter().zip(values) {
            self.builder.variable(Variable {
                name,
                process: PROCESS,
                // Nothing but `undefined` is ever in it.
                ty: ty.unwrap_or(Type::Bool),
                initial,
                place: Place::default(),
            });
        }
        Ok(())
    }

    /// A location for every vertex, and one for all vertices of a shared state.
    fn vertices(&mut self) -> Result<(), FormatError> {
        struct Group<'a> {
            members: Vec<(usize, &'a Element)>,
        }
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut shared: FxHashMap<&str, usize> = FxHashMap::default();
        for (number, model) in self.models.iter().enumerate() {
            for vertex in model.vertices.iter().filter(|vertex| !is_blocked(vertex)) {
                let state = vertex.saved.shared_state.as_deref().unwrap_or_default();
                let fresh = groups.len();
                let group = match state {
                    "" => fresh,
                    state => *shared.entry(state).or_insert(fresh),
                };
                if group == fresh {
                    groups.push(Group {
                        members: Vec::new(),
                    });
                }
                groups[group].members.push((number, vertex));
            }
        }
        let name_of = |group: &Group<'a>| {
            let names = group.members.iter().map(|(_, v)| match &v.saved.name {
                Some(name) if !name.is_empty() => name.as_str(),
                _ => v.saved.id.as_str(),
            });
            let names: BTreeSet<&str> = names.collect();
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        let names: Vec<String> = groups.iter().map(name_of).collect();
        for (group, name) in groups.iter().zip(&names) {
            let (number, first) = group.members[0];
            let acts = |v: &Element| v.saved.actions.as_ref().is_some_and(|a| !a.is_empty());
            if let [_, _, ..] = group.members[..]
                && let Some((_, vertex)) = group.members.iter().find(|(_, v)| acts(v))
            {
                let what = vertex.saved.show("vertex");
                return Err(FormatError::new(
                    vertex.line,
                    format!(
                        "{what} is shared and has actions, which may or may not run; put them on \
                         the edges that lead to it"
                    ),
                ));
            }
            let twins = names.iter().filter(|other| *other == name).count();
            let name = match twins {
                1 => name.clone(),
                _ => format!("{}.{name}", self.models[number].name),
            };
            let location = self.location(name, first.line);
            for (number, vertex) in &group.members {
                let key = (*number, vertex.saved.id.as_str());
                if self.locations.insert(key, location).is_some() {
                    let message = format!("there are two vertices '{}'", vertex.saved.id);
                    return Err(FormatError::new(vertex.line, message));
                }
            }
        }
        Ok(())
    }

    fn location(&mut self, name: String, line: u32) -> LocationId {
        self.places += 1;
        self.builder.location(Location {
            name,
            process: PROCESS,
            timeout: None,
            place: place(line),
        })
    }

    /// Where the first model that says where it starts does, and the edge that is taken first.
    fn start(&mut self) -> Result<(LocationId, FirstEdge<'a>), FormatError> {
        for (number, model) in self.models.iter().enumerate() {
            let begins = |edge: &&Element| match &model.start {
                Some(start) => edge.saved.id == *start,
                None => edge.saved.source_vertex_id.is_none(),
            };
            if let Some(start) = &model.start
                && let Some(location) = self.locations.get(&(number, start.as_str()))
            {
                return Ok((*location, None));
            }
            if let Some(edge) = model.edges.iter().find(begins) {
                let first = Some((number, edge.saved.id.as_str()));
                let source = edge.saved.source_vertex_id.as_deref();
                let known = source.and_then(|id| self.locations.get(&(number, id)));
                let location = match known {
                    Some(location) => *location,
                    None => self.location("Start".to_owned(), edge.line),
                };
                return Ok((location, first));
            }
            if let Some(start) = &model.start {
                let message = format!(
                    "model '{}' starts at '{start}', which is not there",
                    model.name
                );
                return Err(FormatError::new(model.line, message));
            }
        }
        Err(FormatError::new(
            0,
            "no model says where it starts: give one a `startElementId`",
        ))
    }

    fn edge(
        &mut self,
        number: usize,
        edge: &'a Element,
        initial: LocationId,
        first: &FirstEdge<'_>,
    ) -> Result<(), FormatError> {
        let Element { line, saved } = edge;
        let what = saved.show("edge");
        let wrong = |message: String| Err(FormatError::new(*line, format!("{what} {message}")));
        let model = &self.models[number];
        let blocked = |id: &str| {
            let mut vertices = model.vertices.iter();
            vertices.any(|v| v.saved.id == id && is_blocked(v))
        };
        let source = match saved.source_vertex_id.as_deref() {
            None if *first == Some((number, &saved.id)) => initial,
            None => return wrong("begins nowhere, and is not where the model starts".to_owned()),
            Some(id) if blocked(id) => return Ok(()),
            Some(id) => match self.locations.get(&(number, id)) {
                Some(location) => *location,
                None => return wrong(format!("begins at vertex '{id}', which is not there")),
            },
        };
        let target = match saved.target_vertex_id.as_deref() {
            None => return wrong("leads nowhere; give it a `targetVertexId`".to_owned()),
            Some(id) if blocked(id) => return Ok(()),
            Some(id) => match self.locations.get(&(number, id)) {
                Some(_) => id,
                None => return wrong(format!("leads to vertex '{id}', which is not there")),
            },
        };
        let budget = &self.options.budget;
        let guard = match guard(edge, budget)? {
            Some((script, node)) => {
                let guard = self.variables.guard(number, &node);
                guard.map_err(|bad| script.error(bad))?
            }
            None => Expr::TRUE,
        };
        // What the vertex does on arrival comes after what the edge does.
        let mut scripts: Scripts<'_> =
            Script::actions(*line, &what, saved.actions.as_deref(), budget)?;
        let arrived = model.vertices.iter().find(|v| v.saved.id == target);
        if let Some(vertex) = arrived {
            scripts.extend(actions_of(vertex, "vertex", budget)?);
        }
        let all: Vec<Assigned> = scripts.iter().flat_map(|(_, all)| all.clone()).collect();
        let update = self.variables.update(number, &all, budget).map_err(|bad| {
            // Only trying each of the scripts shows which one it is.
            let guilty = scripts
                .iter()
                .find(|(_, one)| self.variables.update(number, one, budget).is_err());
            match guilty.or(scripts.first()) {
                Some((script, _)) => script.error(bad),
                None => FormatError::new(*line, bad.message),
            }
        })?;
        let gate = match saved.name.as_deref().map(str::trim) {
            None | Some("") => Gate::Tau,
            Some(name) => {
                let found = self.options.labels.find(*line, name)?;
                let (direction, name) = match found {
                    Some(found) => found,
                    None if self.options.labels.hide_others => (Direction::Internal, name),
                    None => (Direction::Stimulus, name),
                };
                self.gate(direction, name)
            }
        };
        let arrival = arrived.and_then(|vertex| vertex.saved.name.clone());
        let target = self.locations[&(number, target)];
        let response = arrival.filter(|name| self.options.vertices && !name.is_empty());
        let end = match response {
            None => target,
            Some(_) => self.location(format!("_{}", self.places), *line),
        };
        let here = place(*line);
        let id = self.builder.switch(source, gate, guard, update, end, here);
        if let Some(name) = response {
            let gate = self.gate(Direction::Response, &name);
            self.builder
                .switch(end, gate, Expr::TRUE, Vec::new(), target, here);
        }
        if let Some(Json::String(note)) = saved.property("description") {
            self.builder.note(id, note);
        }
        Ok(())
    }

    /// The gate of a label; a τ for [`Direction::Internal`].
    fn gate(&mut self, direction: Direction, name: &str) -> Gate {
        self.labels.gate(&mut self.builder, direction, name)
    }
}

fn place(line: u32) -> Place {
    Place {
        file: 0,
        line,
        column: 1,
    }
}

/// GraphWalker leaves such elements out.
fn is_blocked(element: &Element) -> bool {
    element.saved.property("blocked") == Some(&Json::Bool(true))
}

fn guard<'a>(
    edge: &'a Element,
    budget: &Budget,
) -> Result<Option<(Script<'a>, Node)>, FormatError> {
    let text = match edge.saved.guard.as_deref() {
        Some(text) if !text.trim().is_empty() => text,
        _ => return Ok(None),
    };
    let script = Script {
        line: edge.line,
        what: format!("the guard of {}", edge.saved.show("edge")),
        text,
    };
    let node = script::expression(text, budget).map_err(|bad| script.error(bad))?;
    Ok(Some((script, node)))
}

fn actions_of<'a>(
    element: &'a Element,
    kind: &str,
    budget: &Budget,
) -> Result<Scripts<'a>, FormatError> {
    let what = element.saved.show(kind);
    Script::actions(
        element.line,
        &what,
        element.saved.actions.as_deref(),
        budget,
    )
}

/// The variables of all scripts, with the types of what they are given.
fn learn(models: &[Model], budget: &Budget) -> Result<Variables, FormatError> {
    let mut all: Vec<(usize, Script<'_>, Vec<Assigned>)> = Vec::new();
    for (number, model) in models.iter().enumerate() {
        let what = format!("model '{}'", model.name);
        let mut scripts = Script::actions(model.line, &what, model.actions.as_deref(), budget)?;
        for edge in &model.edges {
            scripts.extend(actions_of(edge, "edge", budget)?);
        }
        for vertex in &model.vertices {
            scripts.extend(actions_of(vertex, "vertex", budget)?);
        }
        all.extend(
            scripts
                .into_iter()
                .map(|(script, found)| (number, script, found)),
        );
    }
    let mut variables = Variables::default();
    loop {
        let mut new = false;
        for (number, script, statements) in &all {
            for assigned in statements {
                let learnt = variables.learn(*number, assigned);
                new |= learnt.map_err(|bad| script.error(bad))?;
            }
        }
        if !new {
            return Ok(variables);
        }
    }
}

/// Every model must have a vertex that edges lead to from the start: GraphWalker would run the
/// others afterwards, which is another test.
fn joined(
    sts: &Sts,
    models: &[Model],
    locations: &FxHashMap<(usize, &str), LocationId>,
) -> Result<(), FormatError> {
    let mut reached = vec![false; sts.locations().len()];
    let mut open = vec![sts.processes()[0].initial];
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut reached[location.index()], true) {
            open.extend(
                sts.outgoing(location)
                    .iter()
                    .map(|id| sts.switch(*id).target),
            );
        }
    }
    for (number, model) in models.iter().enumerate() {
        let mut own = locations.iter().filter(|((of, _), _)| *of == number);
        if !model.vertices.is_empty() && !own.any(|(_, location)| reached[location.index()]) {
            return Err(FormatError::new(
                model.line,
                format!(
                    "no way leads from the start to model '{}': join them by a `sharedState`, or put \
                     the model into a file of its own",
                    model.name
                ),
            ));
        }
    }
    Ok(())
}
