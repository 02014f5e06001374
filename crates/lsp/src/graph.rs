//! "Show in graph": the model as a picture, coloured by coverage where there is any, and the name
//! of the location that the cursor stands at.

use gen_lsp_types::{ExecuteCommandParams, TextDocumentPositionParams};
use ioco_sts::LocationId;
use serde::Serialize;

use crate::SHOW_IN_GRAPH;
use crate::documents::Documents;

/// A picture of a model.
#[derive(Serialize)]
pub struct Graph {
    pub model: String,
    pub svg: String,
    /// The location that the cursor's line names or leads to, and its element in the picture.
    pub location: Option<String>,
    pub element: Option<String>,
}

pub fn execute(documents: &Documents, params: &ExecuteCommandParams) -> Result<Graph, String> {
    if params.command != SHOW_IN_GRAPH {
        return Err(format!(
            "ioco lsp does not know the command {}",
            params.command
        ));
    }
    let argument = params.arguments.as_ref().and_then(|all| all.first());
    let argument = argument.ok_or("the command needs a document and a position")?;
    let at: TextDocumentPositionParams = serde_json::to_value(argument)
        .and_then(serde_json::from_value)
        .map_err(|error| error.to_string())?;
    let (path, _) = documents.text(&at.text_document.uri)?;
    let loaded = documents.load(&at.text_document.uri)?;
    let sts = loaded
        .sts
        .as_ref()
        .ok_or("the model has errors: fix them first")?;
    let file = loaded.files.iter().position(|file| file.name == path);
    let line = at.position.line + 1;
    let is_here = |place: ioco_sts::Place| Some(place.file as usize) == file && place.line == line;
    let named = sts.locations().iter().position(|l| is_here(l.place));
    let led_to = sts.switches().iter().find(|s| is_here(s.place));
    let location = named
        .map(LocationId::from_index)
        .or_else(|| led_to.map(|switch| switch.target));
    Ok(Graph {
        model: sts.name().to_owned(),
        svg: ioco_draw::svg(sts, &ioco_draw::Style::default()),
        location: location.map(|id| sts.location(id).name.clone()),
        element: location.map(|id| format!("l{}", id.index())),
    })
}
