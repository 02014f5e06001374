//! What the tests of expressions share.

use std::sync::Arc;

use ioco_aml::Loaded;
use ioco_sts::{Env, Sts, Value};

/// The model, which has no mistakes.
pub fn valid(loaded: Loaded) -> Arc<Sts> {
    let said: Vec<String> = loaded
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| ioco_aml::render(d, &loaded.files, false))
        .collect();
    loaded.sts.unwrap_or_else(|| panic!("{}", said.join("\n")))
}

pub fn env<'a>(sts: &'a Sts, variables: &'a [Value], parameters: &'a [Value]) -> Env<'a> {
    Env {
        variables,
        parameters,
        functions: sts.functions(),
    }
}

pub fn initial(sts: &Sts) -> Vec<Value> {
    sts.variables().iter().map(|v| v.initial.clone()).collect()
}
