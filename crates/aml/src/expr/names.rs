//! What the names in an expression may mean.

use ioco_sts::{EnumId, FunctionId, Parameter, Type, Types, VarId};

use crate::ast::Value;

/// A variable that an expression can see.
#[derive(Clone, Debug)]
pub struct SeenVariable {
    pub name: String,
    pub id: VarId,
    pub ty: Type,
    /// The process it belongs to, to tell variables of the same name apart.
    pub process: String,
}

/// The types of a function.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub id: FunctionId,
    pub parameters: Vec<Type>,
    pub result: Type,
}

/// Everything an expression can see.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    pub types: &'a Types,
    pub variables: &'a [SeenVariable],
    /// The parameters of the label.
    pub parameters: &'a [Parameter],
    /// The parameters of the function whose body is checked.
    pub locals: &'a [(String, Type)],
    pub functions: &'a [Signature],
    /// What was declared with something wrong in it: that is reported there, and not where it is used.
    pub broken: &'a [String],
    /// The constants of the model: everything else goes before them.
    pub constants: &'a [(String, Value)],
}

/// What a name turns out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    Local(u32, Type),
    Parameter(u32, Type),
    Variable(VarId, Type),
    Member(EnumId, u32),
    /// Several things: what they are, to be named in a message.
    Ambiguous(Vec<String>),
    Unknown,
}

impl Names<'_> {
    /// `expected` decides between members of the same name.
    pub fn meaning(&self, name: &str, expected: Option<EnumId>) -> Resolution {
        // The parameter of an inner block hides what is around it.
        if let Some(position) = self.locals.iter().rposition(|(local, _)| local == name) {
            return Resolution::Local(position as u32, self.locals[position].1.clone());
        }
        if let Some(position) = self.parameters.iter().position(|p| p.name == name) {
            return Resolution::Parameter(position as u32, self.parameters[position].ty.clone());
        }
        let mut variables = self.variables.iter().filter(|v| v.name == name);
        if let Some(first) = variables.next() {
            let others: Vec<&SeenVariable> = variables.collect();
            if others.is_empty() {
                return Resolution::Variable(first.id, first.ty.clone());
            }
            return Resolution::Ambiguous(
                std::iter::once(first)
                    .chain(others)
                    .map(|v| format!("{}.{name}", v.process))
                    .collect(),
            );
        }
        let members = self.members(name);
        match members.as_slice() {
            [] => Resolution::Unknown,
            [(id, member)] => Resolution::Member(*id, *member),
            _ => match members.iter().find(|(id, _)| Some(*id) == expected) {
                Some((id, member)) => Resolution::Member(*id, *member),
                None => Resolution::Ambiguous(
                    members
                        .iter()
                        .map(|(id, _)| format!("{}.{name}", self.types.enums[id.index()].name))
                        .collect(),
                ),
            },
        }
    }

    fn members(&self, name: &str) -> Vec<(EnumId, u32)> {
        let mut found = Vec::new();
        for (index, declared) in self.types.enums.iter().enumerate() {
            if let Some(member) = declared.members.iter().position(|m| m == name) {
                found.push((EnumId::from_index(index), member as u32));
            }
        }
        found
    }

    /// `qualifier.name` where the qualifier is an enumeration or a process.
    pub fn qualified(&self, qualifier: &str, name: &str) -> Option<Resolution> {
        if self.meaning(qualifier, None) != Resolution::Unknown {
            return None;
        }
        if let Some(index) = self.types.enums.iter().position(|e| e.name == qualifier) {
            let members = &self.types.enums[index].members;
            return Some(match members.iter().position(|m| m == name) {
                Some(member) => Resolution::Member(EnumId::from_index(index), member as u32),
                None => Resolution::Unknown,
            });
        }
        let mut of_process = self.variables.iter().filter(|v| v.process == qualifier);
        let any = of_process.clone().next().is_some();
        any.then(|| {
            of_process
                .find(|v| v.name == name)
                .map_or(Resolution::Unknown, |v| {
                    Resolution::Variable(v.id, v.ty.clone())
                })
        })
    }

    /// All names, for "did you mean".
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let members = self.types.enums.iter().flat_map(|e| e.members.iter());
        self.locals
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(self.parameters.iter().map(|p| p.name.as_str()))
            .chain(self.variables.iter().map(|v| v.name.as_str()))
            .chain(members.map(String::as_str))
            .chain(self.constants.iter().map(|(name, _)| name.as_str()))
    }
}
