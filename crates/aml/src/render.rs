//! A diagnostic as a person reads it: the source line with the place marked.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str as normalized,
};

use crate::diagnostic::{Diagnostic, Severity, SourceFile};

/// The diagnostic with its source lines. `colour` adds terminal escapes; nothing is said by colour
/// alone.
pub fn render(diagnostic: &Diagnostic, files: &[SourceFile], colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code)
        .elements(Vec::<Snippet<'_, annotate_snippets::Annotation<'_>>>::new());
    if let Some(source) = files.get(diagnostic.file) {
        let mut snippet = snippet(source)
            .annotation(AnnotationKind::Primary.span(within(&diagnostic.span, source)));
        for (_, span, text) in diagnostic.labels.iter().filter(|l| l.0 == diagnostic.file) {
            snippet = snippet.annotation(
                AnnotationKind::Context
                    .span(within(span, source))
                    .label(normalized(text)),
            );
        }
        group = group.element(snippet);
    }
    for (file, span, text) in diagnostic.labels.iter().filter(|l| l.0 != diagnostic.file) {
        if let Some(source) = files.get(*file) {
            let marked = AnnotationKind::Context
                .span(within(span, source))
                .label(normalized(text));
            group = group.element(snippet(source).annotation(marked));
        }
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(normalized(hint)));
    }
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let groups: [Group<'_>; 1] = [group];
    let mut text = renderer.decor_style(DecorStyle::Ascii).render(&groups);
    text.push('\n');
    text
}

fn snippet(source: &SourceFile) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    Snippet::source(source.text.as_str()).path(normalized(&source.name))
}

/// The span, kept inside the text: a diagnostic at the end of a file has nothing to mark.
fn within(span: &std::ops::Range<usize>, source: &SourceFile) -> std::ops::Range<usize> {
    let length = source.text.len();
    span.start.min(length)..span.end.min(length)
}
