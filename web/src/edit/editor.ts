/** CodeMirror for model text: colours, diagnostics and completion by the language's own front end, and saving. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type Completion, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, linter, lintGutter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { pieceAt } from "../data/highlight";
import type { Draft, DraftDiagnostic } from "../data/contract";

export interface EditorOptions {
  text: string;
  label: string;
  line: number | null;
  /** What ioco says about the text, and what can be typed at a place. */
  check: (text: string, at: number | null) => Promise<Draft | null>;
  changed: (text: string) => void;
  save: () => void;
}

export interface OpenEditor {
  text(): string;
  go(line: number): void;
  focus(): void;
  close(): void;
}

const aml = StreamLanguage.define<null>({
  name: "aml",
  startState: () => null,
  token(stream) {
    const piece = pieceAt(stream.string.slice(stream.pos));
    stream.pos += piece.text.length;
    return piece.kind === "comment" ? "comment" : piece.kind === "string" ? "string"
      : piece.kind === "word" ? "keyword" : piece.kind === "numeral" ? "number" : null;
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'] } },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--response)" },
  { tag: tags.keyword, color: "var(--stimulus)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", backgroundColor: "var(--panel)", color: "var(--text)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "19px" },
  ".cm-content": { caretColor: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--select)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", border: "1px solid var(--line-strong)", borderRadius: "6px", color: "var(--text)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-text)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected] .cm-completionDetail": { color: "var(--accent-text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", whiteSpace: "pre-wrap" },
  ".cm-diagnosticAction": { backgroundColor: "var(--accent)", color: "var(--accent-text)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn)" },
  ".cm-lintRange-hint, .cm-lintRange-info": { backgroundImage: "none", textDecoration: "underline dotted var(--muted)" },
});

function shown(entry: DraftDiagnostic, length: number): Diagnostic {
  const from = Math.min(entry.from, length);
  const fix = entry.fix;
  return {
    from,
    to: Math.max(from, Math.min(entry.to, length)),
    severity: entry.severity === "error" ? "error" : entry.severity === "warning" ? "warning" : "hint",
    source: entry.code,
    message: entry.hint ? `${entry.message}\n${entry.hint}` : entry.message,
    ...(fix
      ? { actions: [{ name: `Write ${fix.text}`, apply: (view: EditorView) => view.dispatch({ changes: { from: fix.from, to: fix.to, insert: fix.text } }) }] }
      : {}),
  };
}

const KINDS: Record<string, string> = { keyword: "keyword", stimulus: "function", response: "function", variable: "variable", parameter: "variable", state: "class" };

export function openEditor(place: HTMLElement, options: EditorOptions): OpenEditor {
  async function complete(context: CompletionContext) {
    const word = context.matchBefore(/[A-Za-z_][\w]*/);
    if (!word && !context.explicit && !context.matchBefore(/['" ]/)) return null;
    const said = await options.check(context.state.doc.toString(), context.pos);
    if (!said || context.aborted) return null;
    const found: Completion[] = said.completions.map(({ text, detail, kind }) => ({ label: text, detail, type: KINDS[kind] ?? "variable" }));
    return { from: word?.from ?? context.pos, options: found, validFor: /^\w*$/ };
  }

  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), drawSelection(), history(), bracketMatching(), closeBrackets(), indentOnInput(),
        indentUnit.of("  "), EditorState.tabSize.of(2), aml, syntaxHighlighting(colours), look,
        autocompletion({ override: [complete] }),
        linter(async (view) => {
          const text = view.state.doc.toString();
          const said = await options.check(text, null);
          return (said?.diagnostics ?? []).map((entry) => shown(entry, text.length));
        }, { delay: 300 }),
        lintGutter(),
        keymap.of([
          { key: "Mod-s", preventDefault: true, run: () => (options.save(), true) },
          ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  const go = (line: number) => {
    const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))).from;
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  };
  if (options.line !== null) go(options.line);
  forceLinting(view);
  return { text: () => view.state.doc.toString(), go, focus: () => view.focus(), close: () => view.destroy() };
}
