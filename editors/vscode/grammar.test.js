// The grammar, run by the same engine as the editor's, on the lines that matter.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const oniguruma = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const file = path.join(__dirname, "syntaxes", "aml.tmLanguage.json");
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  return registry.loadGrammar("source.aml");
}

// The innermost scope of the first token that holds `text`.
function scope(tokens, line, text) {
  const at = line.indexOf(text);
  const found = tokens.find((token) => token.startIndex <= at && at < token.endIndex);
  return found.scopes.at(-1);
}

test("statements, labels, expressions and comments have colours of their own", async () => {
  const aml = await grammar();
  const line = "receive 'open', constraint: 'code == secret && double(x) in [1]' # why";
  const { tokens } = aml.tokenizeLine(line, INITIAL);
  assert.equal(scope(tokens, line, "receive"), "keyword.other.step.aml");
  assert.equal(scope(tokens, line, "open"), "string.quoted.single.aml");
  assert.equal(scope(tokens, line, "constraint:"), "variable.parameter.aml");
  assert.equal(scope(tokens, line, "secret"), "variable.other.aml");
  assert.equal(scope(tokens, line, "double"), "entity.name.function.aml");
  assert.equal(scope(tokens, line, "&&"), "keyword.operator.aml");
  assert.equal(scope(tokens, line, "why"), "comment.line.number-sign.aml");
});

test("an update may go over several lines", async () => {
  const aml = await grammar();
  const first = aml.tokenizeLine("send 'x', update: %(a = (b + 1);", INITIAL);
  const line = "c = 2) # done";
  const { tokens } = aml.tokenizeLine(line, first.ruleStack);
  assert.equal(scope(tokens, line, "c"), "variable.other.aml");
  assert.equal(scope(tokens, line, "done"), "comment.line.number-sign.aml");
});
