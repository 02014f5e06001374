//! The language server for AML: what `ioco lsp` answers an editor. An ordered loop over messages;
//! every answer is computed from the open texts and the files beside them.

mod answers;
mod assist;
mod documents;
mod graph;
mod positions;

use std::panic::AssertUnwindSafe;

use gen_lsp_types::{
    CodeActionKind, CodeActionOptions, CodeLensOptions, CompletionOptions, ExecuteCommandOptions,
    RenameOptions, ServerCapabilities, TextDocumentSyncKind,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use documents::Documents;

/// The command that shows a model as a graph.
pub const SHOW_IN_GRAPH: &str = "ioco.showInGraph";

const STACK: usize = 256 << 20;

/// Serves one editor over standard input and output, until it says that it is done.
pub fn serve_stdio() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    // A deeply nested model needs a deep stack; only what is used of it takes memory.
    let served = std::thread::Builder::new()
        .stack_size(STACK)
        // The writer ends when its last sender is gone: the connection is dropped here.
        .spawn(move || serve(&connection))
        .map_err(|error| error.to_string())?;
    let ended = served.join();
    ended.map_err(|_| "this went wrong inside ioco".to_owned())??;
    threads.join().map_err(|error| error.to_string())
}

/// Serves one editor over a connection.
pub fn serve(connection: &Connection) -> Result<(), String> {
    let able = serde_json::to_value(capabilities()).map_err(|error| error.to_string())?;
    connection
        .initialize(able)
        .map_err(|error| error.to_string())?;
    let mut server = Server {
        connection,
        documents: Documents::default(),
    };
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                let done = connection.handle_shutdown(&request);
                if done.map_err(|error| error.to_string())? {
                    return Ok(());
                }
                server.answer(request)?;
            }
            Message::Notification(notification) => server.note(notification)?,
            Message::Response(_) => {}
        }
    }
    Ok(())
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncKind::Full.into()),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["'".to_owned(), "\"".to_owned(), " ".to_owned()]),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        document_formatting_provider: Some(true.into()),
        workspace_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QuickFix]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        code_lens_provider: Some(CodeLensOptions::default()),
        rename_provider: Some(
            RenameOptions {
                prepare_provider: Some(true),
                ..RenameOptions::default()
            }
            .into(),
        ),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![SHOW_IN_GRAPH.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

struct Server<'a> {
    connection: &'a Connection,
    documents: Documents,
}

/// Why a request has no answer.
struct Refused(ErrorCode, String);

type Answered = Result<Json, Refused>;

impl Server<'_> {
    fn answer(&mut self, request: Request) -> Result<(), String> {
        let Request { id, method, params } = request;
        let documents = &mut self.documents;
        // What goes wrong in one answer is the error of that answer.
        let answered = std::panic::catch_unwind(AssertUnwindSafe(|| match method.as_str() {
            "textDocument/definition" => with(params, |p| answers::definition(documents, &p)),
            "textDocument/references" => with(params, |p| answers::references(documents, &p)),
            "textDocument/hover" => with(params, |p| answers::hover(documents, &p)),
            "textDocument/completion" => with(params, |p| answers::completion(documents, &p)),
            "textDocument/documentSymbol" => with(params, |p| answers::symbols(documents, &p)),
            "textDocument/codeAction" => with(params, |p| assist::actions(documents, &p)),
            "textDocument/codeLens" => with(params, |p| assist::lenses(documents, &p)),
            "textDocument/foldingRange" => with(params, |p| assist::folding(documents, &p)),
            "workspace/symbol" => with(params, |p| answers::workspace_symbols(documents, &p)),
            "textDocument/formatting" => with(params, |p| answers::formatting(documents, &p)),
            "textDocument/prepareRename" => with(params, |p| answers::prepare(documents, &p)),
            "textDocument/rename" => with(params, |p| answers::rename(documents, &p)),
            "workspace/executeCommand" => with(params, |p| graph::execute(documents, &p)),
            _ => Err(Refused(
                ErrorCode::MethodNotFound,
                format!("ioco lsp does not know {method}"),
            )),
        }));
        let answered = answered.unwrap_or_else(|_| {
            let words = "this went wrong inside ioco; please report it";
            Err(Refused(ErrorCode::InternalError, words.to_owned()))
        });
        let response = match answered {
            Ok(value) => Response::new_ok(id, value),
            Err(Refused(code, message)) => Response::new_err(id, code as i32, message),
        };
        self.send(Message::Response(response))
    }

    fn note(&mut self, notification: Notification) -> Result<(), String> {
        let Notification { method, params } = notification;
        let changed = match method.as_str() {
            "textDocument/didOpen" => self.documents.opened(params),
            "textDocument/didChange" => self.documents.changed(params),
            "textDocument/didClose" => self.documents.closed(params),
            // The text on disk may be another model's include.
            "textDocument/didSave" => Some(()),
            _ => None,
        };
        if changed.is_some() {
            for diagnostics in self.documents.check() {
                let params = serde_json::to_value(diagnostics).map_err(|e| e.to_string())?;
                let method = "textDocument/publishDiagnostics".to_owned();
                self.send(Message::Notification(Notification { method, params }))?;
            }
        }
        Ok(())
    }

    fn send(&self, message: Message) -> Result<(), String> {
        let sent = self.connection.sender.send(message);
        sent.map_err(|_| "the editor has closed the connection".to_owned())
    }
}

/// Reads a request's parameters and answers it.
fn with<P: DeserializeOwned, A: serde::Serialize>(
    params: Json,
    answer: impl FnOnce(P) -> Result<A, String>,
) -> Answered {
    let params = serde_json::from_value(params)
        .map_err(|error| Refused(ErrorCode::InvalidParams, error.to_string()))?;
    let answer = answer(params).map_err(|why| Refused(ErrorCode::RequestFailed, why))?;
    serde_json::to_value(answer)
        .map_err(|error| Refused(ErrorCode::InternalError, error.to_string()))
}
