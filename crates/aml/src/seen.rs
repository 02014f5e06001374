//! What an expression of its own, outside of a model's text, can see of a model.

use ioco_sts::{FunctionId, Sts, VarId};

use crate::expr::names::{SeenVariable, Signature};

/// The variables and functions of a model as names.
pub struct Seen {
    pub variables: Vec<SeenVariable>,
    pub functions: Vec<Signature>,
}

impl Seen {
    pub fn of(sts: &Sts) -> Seen {
        let variables = sts.variables().iter().enumerate();
        let functions = sts.functions().iter().enumerate();
        Seen {
            variables: variables
                .map(|(index, variable)| SeenVariable {
                    name: variable.name.clone(),
                    id: VarId::from_index(index),
                    ty: variable.ty.clone(),
                    process: sts.processes()[variable.process.index()].name.clone(),
                })
                .collect(),
            functions: functions
                .map(|(index, function)| Signature {
                    name: function.name.clone(),
                    id: FunctionId::from_index(index),
                    parameters: function.parameters.iter().map(|p| p.1.clone()).collect(),
                    result: function.result.clone(),
                })
                .collect(),
        }
    }
}
