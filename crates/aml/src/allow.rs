//! Comments that silence warnings: `# ioco: allow A064` on the line of a warning, or alone on the line above.

use rustc_hash::FxHashSet;

use crate::diagnostic::{Diagnostic, SourceFile};

const MARK: &str = "# ioco: allow ";

/// Takes out the warnings and hints that the text allows, and counts them. Errors stay.
pub fn silence(diagnostics: &mut Vec<Diagnostic>, files: &[SourceFile]) -> usize {
    let mut allowed: FxHashSet<(usize, u32, &str)> = FxHashSet::default();
    for (file, source) in files.iter().enumerate() {
        if !source.text.contains(MARK) {
            continue;
        }
        for (line, text) in (1..).zip(source.text.lines()) {
            let Some((before, codes)) = text.split_once(MARK) else {
                continue;
            };
            let alone = before.trim().is_empty();
            for code in codes.split([',', ' ']).filter(|code| !code.is_empty()) {
                allowed.insert((file, line + u32::from(alone), code));
            }
        }
    }
    let before = diagnostics.len();
    diagnostics.retain(|d| d.is_error() || !allowed.contains(&(d.file, d.line_column().0, d.code)));
    before - diagnostics.len()
}

#[cfg(test)]
mod tests {
    use crate::load_text;

    #[test]
    fn a_comment_silences_a_warning_on_its_line_or_on_the_next() {
        let model = |first: &str, second: &str| {
            let text = format!(
                "process('p') {{{first}\n  {second}\n  channel('c') {{ stimuli 'a' }}\n  state 'S'\n  receive 'a'\n}}\n"
            );
            let loaded = load_text("m.aml", &text);
            let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
            (codes.join(" "), loaded.silenced)
        };
        assert_eq!(model("", ""), ("A025".to_owned(), 0));
        assert_eq!(model("", "# ioco: allow A025"), (String::new(), 1));
        assert_eq!(model("", "# ioco: allow A064, A025"), (String::new(), 1));
        assert_eq!(model("", "# ioco: allow A064"), ("A025".to_owned(), 0));
        assert_eq!(model(" # ioco: allow A025", ""), ("A025".to_owned(), 0));
    }
}
