//! Flat expressions: names are resolved to variables, definitions and parameters are put in place.
//! Equal expressions are stored once, so a definition that is used a thousand times costs one entry.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::syntax::tree::Operator;
use crate::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

impl VarId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Const(Value),
    /// The variable in the current state.
    Var(VarId),
    /// The variable in the next state.
    Next(VarId),
    Not(ExprId),
    Negate(ExprId),
    And(Box<[ExprId]>),
    Or(Box<[ExprId]>),
    Binary(Operator, ExprId, ExprId),
    /// The first branch whose condition holds; no value when none does.
    Case(Box<[(ExprId, ExprId)]>),
    /// Any of the values: a free choice.
    Set(Box<[ExprId]>),
    /// Any integer between the two.
    Range(ExprId, ExprId),
    /// How many of the conditions hold.
    Count(Box<[ExprId]>),
    /// TRUE as 1, FALSE as 0; an integer stays.
    ToInt(ExprId),
    /// 0 as FALSE, other integers as TRUE; a boolean stays.
    ToBool(ExprId),
    Abs(ExprId),
    Min(ExprId, ExprId),
    Max(ExprId, ExprId),
}

#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Vec<Node>,
    traits: Vec<Traits>,
    /// How many places in a [`crate::eval::Memo`] the expressions need.
    slots: u32,
    index: FxHashMap<Node, ExprId>,
}

/// What can be said of an expression whatever the state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Never more than one value: there is no choice in it.
    pub single: bool,
    /// Never without a value.
    pub total: bool,
    /// It speaks of the next state.
    pub next: bool,
    /// Operators on the longest way down to a variable or a constant.
    pub height: u32,
    weight: u32,
    used: bool,
    /// Where its values are kept while one state is looked at, when it is used several times and not trivial.
    pub slot: Option<u32>,
}

/// Lighter expressions are computed again rather than looked up.
const LIGHT: u32 = 4;

impl Exprs {
    pub fn add(&mut self, node: Node) -> ExprId {
        if let Some(id) = self.index.get(&node) {
            return *id;
        }
        let id = ExprId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 expressions"));
        let traits = self.judge(&node);
        self.traits.push(traits);
        self.nodes.push(node.clone());
        self.index.insert(node, id);
        for child in self.children(id) {
            let child = &mut self.traits[child.0 as usize];
            if child.used && child.slot.is_none() && child.weight > LIGHT {
                child.slot = Some(self.slots);
                self.slots += 1;
            }
            child.used = true;
        }
        id
    }

    /// Operands come before what they are operands of, so their traits are known.
    fn judge(&self, node: &Node) -> Traits {
        let children = children(node);
        let of = |id: &ExprId| self.traits[id.0 as usize];
        let all_total = children.iter().all(|child| of(child).total);
        let (single, total) = match node {
            Node::Const(_) | Node::Var(_) | Node::Next(_) => (true, true),
            Node::Set(parts) => (
                parts.len() == 1 && of(&parts[0]).single,
                parts.iter().any(|part| of(part).total),
            ),
            Node::Range(..) => (false, false),
            Node::Binary(Operator::Union, left, right) => {
                (false, of(left).total || of(right).total)
            }
            // Membership is one truth, however many members there are.
            Node::Binary(Operator::In, left, _) => (of(left).single, all_total),
            Node::Binary(Operator::Divide | Operator::Modulo, left, right) => {
                let safe = matches!(self.node(*right), Node::Const(Value::Int(by)) if *by > 0);
                (of(left).single && of(right).single, all_total && safe)
            }
            Node::Case(branches) => {
                let single = children.iter().all(|child| of(child).single);
                let default = branches.iter().any(|(condition, _)| {
                    matches!(self.node(*condition), Node::Const(Value::Bool(true)))
                });
                (single, all_total && default)
            }
            _ => (children.iter().all(|child| of(child).single), all_total),
        };
        Traits {
            single,
            total,
            next: matches!(node, Node::Next(_)) || children.iter().any(|child| of(child).next),
            height: (children.iter().map(|child| of(child).height).max())
                .map_or(0, |height| height.saturating_add(1)),
            weight: children
                .iter()
                .map(|child| of(child).weight)
                .fold(1, u32::saturating_add),
            used: false,
            slot: None,
        }
    }

    pub(crate) fn traits(&self, id: ExprId) -> Traits {
        self.traits[id.0 as usize]
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots as usize
    }

    pub fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn constant(&mut self, value: Value) -> ExprId {
        self.add(Node::Const(value))
    }

    pub fn boolean(&mut self, value: bool) -> ExprId {
        self.constant(Value::Bool(value))
    }

    pub fn var(&mut self, var: VarId) -> ExprId {
        self.add(Node::Var(var))
    }

    pub fn not(&mut self, expr: ExprId) -> ExprId {
        match self.node(expr) {
            Node::Not(inner) => *inner,
            Node::Const(Value::Bool(value)) => {
                let value = !*value;
                self.boolean(value)
            }
            _ => self.add(Node::Not(expr)),
        }
    }

    pub fn and(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        let parts: Vec<ExprId> = parts.into_iter().collect();
        match parts.len() {
            0 => self.boolean(true),
            1 => parts[0],
            _ => self.add(Node::And(parts.into())),
        }
    }

    pub fn or(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        let parts: Vec<ExprId> = parts.into_iter().collect();
        match parts.len() {
            0 => self.boolean(false),
            1 => parts[0],
            _ => self.add(Node::Or(parts.into())),
        }
    }

    pub fn binary(&mut self, operator: Operator, left: ExprId, right: ExprId) -> ExprId {
        self.add(Node::Binary(operator, left, right))
    }

    pub fn equals(&mut self, expr: ExprId, value: Value) -> ExprId {
        let value = self.constant(value);
        self.binary(Operator::Equal, expr, value)
    }

    /// The operands of an expression.
    pub fn children(&self, id: ExprId) -> Vec<ExprId> {
        children(self.node(id))
    }

    /// Calls `visit` once for every distinct expression below and including `root`.
    pub fn visit(&self, root: ExprId, seen: &mut Seen, visit: &mut dyn FnMut(ExprId, &Node)) {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if !seen.first(id) {
                continue;
            }
            visit(id, self.node(id));
            open.extend(self.children(id));
        }
    }

    /// The variables of an expression, in the current and in the next state.
    pub fn variables(&self, root: ExprId) -> (Vec<VarId>, Vec<VarId>) {
        let (mut current, mut next) = (Vec::new(), Vec::new());
        self.visit(root, &mut Seen::default(), &mut |_, node| match node {
            Node::Var(var) => current.push(*var),
            Node::Next(var) => next.push(*var),
            _ => {}
        });
        current.sort_unstable();
        next.sort_unstable();
        (current, next)
    }

    /// The same expression one step later. `Err` when it already speaks of the next state.
    pub fn primed(
        &mut self,
        root: ExprId,
        memo: &mut FxHashMap<ExprId, ExprId>,
    ) -> Result<ExprId, AlreadyNext> {
        if let Some(done) = memo.get(&root) {
            return Ok(*done);
        }
        let node = self.node(root).clone();
        let result = match node {
            Node::Const(_) => root,
            Node::Var(var) => self.add(Node::Next(var)),
            Node::Next(_) => return Err(AlreadyNext),
            Node::Not(a) => {
                let a = self.primed(a, memo)?;
                self.add(Node::Not(a))
            }
            Node::Negate(a) => {
                let a = self.primed(a, memo)?;
                self.add(Node::Negate(a))
            }
            Node::ToInt(a) => {
                let a = self.primed(a, memo)?;
                self.add(Node::ToInt(a))
            }
            Node::ToBool(a) => {
                let a = self.primed(a, memo)?;
                self.add(Node::ToBool(a))
            }
            Node::Abs(a) => {
                let a = self.primed(a, memo)?;
                self.add(Node::Abs(a))
            }
            Node::And(parts) => {
                let parts = self.primed_all(&parts, memo)?;
                self.add(Node::And(parts))
            }
            Node::Or(parts) => {
                let parts = self.primed_all(&parts, memo)?;
                self.add(Node::Or(parts))
            }
            Node::Set(parts) => {
                let parts = self.primed_all(&parts, memo)?;
                self.add(Node::Set(parts))
            }
            Node::Count(parts) => {
                let parts = self.primed_all(&parts, memo)?;
                self.add(Node::Count(parts))
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.primed(a, memo)?, self.primed(b, memo)?);
                self.add(Node::Binary(operator, a, b))
            }
            Node::Range(a, b) => {
                let (a, b) = (self.primed(a, memo)?, self.primed(b, memo)?);
                self.add(Node::Range(a, b))
            }
            Node::Min(a, b) => {
                let (a, b) = (self.primed(a, memo)?, self.primed(b, memo)?);
                self.add(Node::Min(a, b))
            }
            Node::Max(a, b) => {
                let (a, b) = (self.primed(a, memo)?, self.primed(b, memo)?);
                self.add(Node::Max(a, b))
            }
            Node::Case(branches) => {
                let mut primed = Vec::with_capacity(branches.len());
                for (condition, value) in &branches {
                    primed.push((self.primed(*condition, memo)?, self.primed(*value, memo)?));
                }
                self.add(Node::Case(primed.into()))
            }
        };
        memo.insert(root, result);
        Ok(result)
    }

    fn primed_all(
        &mut self,
        parts: &[ExprId],
        memo: &mut FxHashMap<ExprId, ExprId>,
    ) -> Result<Box<[ExprId]>, AlreadyNext> {
        parts.iter().map(|part| self.primed(*part, memo)).collect()
    }
}

fn children(node: &Node) -> Vec<ExprId> {
    match node {
        Node::Const(_) | Node::Var(_) | Node::Next(_) => Vec::new(),
        Node::Not(inner)
        | Node::Negate(inner)
        | Node::ToInt(inner)
        | Node::ToBool(inner)
        | Node::Abs(inner) => vec![*inner],
        Node::And(parts) | Node::Or(parts) | Node::Set(parts) | Node::Count(parts) => {
            parts.to_vec()
        }
        Node::Binary(_, left, right)
        | Node::Range(left, right)
        | Node::Min(left, right)
        | Node::Max(left, right) => {
            vec![*left, *right]
        }
        Node::Case(branches) => branches
            .iter()
            .flat_map(|(condition, value)| [*condition, *value])
            .collect(),
    }
}

/// The expression speaks of the next state already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyNext;

/// Which expressions were met already.
///
/// Its size is that of what was met, not of all expressions: a model with a million goals looks at each of them alone.
#[derive(Clone, Debug, Default)]
pub struct Seen(FxHashSet<ExprId>);

impl Seen {
    /// True the first time.
    pub fn first(&mut self, id: ExprId) -> bool {
        self.0.insert(id)
    }
}
