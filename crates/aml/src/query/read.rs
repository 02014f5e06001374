//! Reads the lines of a query and resolves their names.

use std::ops::Range;

use ioco_sts::{BinaryOp, Direction, Expr, LabelId, LocationId, Sts};

use super::scan::{Cursor, lines, without_comments};
use super::{Item, Matcher, Query};
use crate::ast::Text;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::expr::check::Checker;
use crate::expr::generated::Generated;
use crate::expr::names::Names;
use crate::seen::Seen;
use crate::suggest::did_you_mean;

/// Steps that a query may ask for at most: a typing mistake must not ask for a million.
const MAX_STEPS: u32 = 10_000;

const STATEMENTS: &[&str] = &["within", "at", "visits", "where", "times"];

/// `None` where a diagnostic says why.
type Read<T> = Option<T>;

pub struct QueryReader<'a> {
    clean: String,
    sts: &'a Sts,
    seen: Seen,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> QueryReader<'a> {
    pub fn new(text: &str, sts: &'a Sts) -> QueryReader<'a> {
        QueryReader {
            clean: without_comments(text),
            sts,
            seen: Seen::of(sts),
            diagnostics: Vec::new(),
        }
    }

    pub fn query(&mut self) -> Query {
        let clean = std::mem::take(&mut self.clean);
        let mut query = Query {
            within: None,
            items: Vec::new(),
        };
        for line in lines(&clean) {
            let mut cursor = Cursor::new(&clean, line.clone());
            if self.line(&mut cursor, &mut query).is_some() && !cursor.is_done() {
                let span = cursor.at..cursor.end;
                let rest = cursor.rest().trim();
                self.wrong(
                    span,
                    format!("nothing is expected here, but there is `{rest}`"),
                );
            }
        }
        if query.items.is_empty() && self.diagnostics.is_empty() {
            let end = clean.trim_end().len();
            let hint = "name a step such as `?open`, or a place such as `visits Locked`";
            let diagnostic = Diagnostic::new(
                codes::QUERY_EMPTY,
                0,
                end..end,
                "the query asks for nothing",
            );
            self.diagnostics.push(diagnostic.hint(hint));
        }
        self.clean = clean;
        query
    }

    fn wrong(&mut self, span: Range<usize>, message: impl Into<String>) {
        let diagnostic = Diagnostic::new(codes::QUERY_SYNTAX, 0, span, message);
        self.diagnostics.push(diagnostic);
    }

    fn line(&mut self, cursor: &mut Cursor<'_>, query: &mut Query) -> Read<()> {
        if cursor.takes("...") || cursor.takes("…") {
            let gap = self.gap(cursor)?;
            query.items.push(gap);
            return Some(());
        }
        if cursor.takes_word("within") {
            let start = cursor.at;
            let steps = self.steps(cursor)?;
            if query.within.replace(steps).is_some() {
                self.wrong(start..cursor.at, "the length is given a second time");
            }
            return Some(());
        }
        if cursor.takes_word("visits") {
            query.items.push(Item::Gap {
                least: 0,
                most: None,
                without: Vec::new(),
            });
            let place = self.place(cursor)?;
            query.items.push(place);
            return Some(());
        }
        if cursor.takes_word("at") {
            let place = self.place(cursor)?;
            query.items.push(place);
            return Some(());
        }
        if cursor.takes_word("where") {
            let condition = self.condition(cursor, None)?;
            query.items.push(Item::Here {
                locations: Vec::new(),
                condition,
            });
            return Some(());
        }
        self.repeated_step(cursor, query)
    }

    fn repeated_step(&mut self, cursor: &mut Cursor<'_>, query: &mut Query) -> Read<()> {
        let mut times = 1;
        cursor.skip_space();
        let begin = cursor.at;
        if let Some((number, span)) = cursor.number() {
            if !cursor.takes_word("times") {
                self.wrong(span, "a number is followed by `times` and a step");
                return None;
            }
            if number == 0 || number > MAX_STEPS {
                self.wrong(span, format!("a step comes 1 to {MAX_STEPS} times"));
                return None;
            }
            times = number;
        }
        cursor.skip_space();
        if !cursor.rest().starts_with(['?', '!', '*']) {
            let word = cursor.word();
            let shown = if word.is_empty() { cursor.rest() } else { word };
            let hint = did_you_mean(word, STATEMENTS.iter().copied()).unwrap_or_else(|| {
                "a line is a step (`?open`, `!opened`, `*`), a gap (`...`), `at`, `visits`, \
                 `where` or `within N steps`"
                    .to_owned()
            });
            let message = format!("`{}` begins no line of a query", shown.trim());
            let span = begin..begin + cursor.rest().len().min(shown.len().max(1));
            let diagnostic = Diagnostic::new(codes::QUERY_SYNTAX, 0, span, message);
            self.diagnostics.push(diagnostic.hint(hint));
            return None;
        }
        let matchers = self.matchers(cursor)?;
        for _ in 0..times {
            query.items.push(Item::Step(matchers.clone()));
        }
        Some(())
    }

    /// `N steps`.
    fn steps(&mut self, cursor: &mut Cursor<'_>) -> Read<u32> {
        cursor.skip_space();
        let Some((number, span)) = cursor.number() else {
            let span = cursor.at..cursor.end;
            self.wrong(
                span,
                "a number of steps is missing, as in `within 12 steps`",
            );
            return None;
        };
        if number > MAX_STEPS {
            self.wrong(span, format!("a test has at most {MAX_STEPS} steps"));
            return None;
        }
        if !(cursor.takes_word("steps") || cursor.takes_word("step")) {
            let span = cursor.at..cursor.end;
            self.wrong(
                span,
                format!("after the number comes `steps`: `{number} steps`"),
            );
            return None;
        }
        Some(number)
    }

    /// After `...`: how long it may be, and what may not happen in it.
    fn gap(&mut self, cursor: &mut Cursor<'_>) -> Read<Item> {
        let (mut least, mut most, mut without) = (0, None, Vec::new());
        while !cursor.is_done() {
            if cursor.takes_word("without") {
                without = self.matchers(cursor)?;
            } else if cursor.takes_word("within") {
                most = Some(self.steps(cursor)?);
            } else if cursor.takes_word("at") {
                if !cursor.takes_word("least") {
                    let span = cursor.at..cursor.end;
                    self.wrong(
                        span,
                        "a gap is `at least N steps`; a place stands on its own line",
                    );
                    return None;
                }
                least = self.steps(cursor)?;
            } else if cursor.rest().starts_with(|c: char| c.is_ascii_digit()) {
                let exactly = self.steps(cursor)?;
                (least, most) = (exactly, Some(exactly));
            } else {
                let span = cursor.at..cursor.end;
                let message = "after `...` comes nothing, `N steps`, `within N steps`, `at least N \
                               steps` or `without` and labels";
                self.wrong(span, message);
                return None;
            }
        }
        Some(Item::Gap {
            least,
            most,
            without,
        })
    }

    /// Labels joined by `or`.
    fn matchers(&mut self, cursor: &mut Cursor<'_>) -> Read<Vec<Matcher>> {
        let mut matchers = self.matcher(cursor)?;
        while cursor.takes_word("or") {
            matchers.extend(self.matcher(cursor)?);
        }
        Some(matchers)
    }

    fn matcher(&mut self, cursor: &mut Cursor<'_>) -> Read<Vec<Matcher>> {
        let (labels, is_named) = self.labels(cursor)?;
        let mut matchers: Vec<Matcher> = labels
            .into_iter()
            .map(|label| Matcher {
                label,
                condition: Expr::TRUE,
            })
            .collect();
        if is_named && cursor.rest().starts_with('(') {
            cursor.at += 1;
            let start = cursor.at;
            let Some(parts) = cursor.arguments() else {
                let span = start - 1..cursor.end;
                self.wrong(span, "the bracket is not closed");
                return None;
            };
            for part in parts {
                for matcher in &mut matchers {
                    let condition = self.argument(cursor, part.clone(), matcher.label)?;
                    matcher.condition = Expr::and(matcher.condition.clone(), condition);
                }
            }
        }
        if cursor.takes_word("where") {
            let begin = *cursor;
            for matcher in &mut matchers {
                *cursor = begin;
                let label = is_named.then_some(matcher.label);
                let condition = self.condition(cursor, label)?;
                matcher.condition = Expr::and(matcher.condition.clone(), condition);
            }
        }
        Some(matchers)
    }

    /// `?name`, `!name`, `?*`, `!*` or `*`: the labels, and whether one was named.
    fn labels(&mut self, cursor: &mut Cursor<'_>) -> Read<(Vec<LabelId>, bool)> {
        cursor.skip_space();
        let start = cursor.at;
        let direction = if cursor.takes("?") {
            Direction::Stimulus
        } else if cursor.takes("!") {
            Direction::Response
        } else if cursor.takes("*") {
            let stimuli = self.sts.labels_of(Direction::Stimulus);
            let all = stimuli.chain(self.sts.labels_of(Direction::Response));
            return Some((all.collect(), false));
        } else {
            let span = start..cursor.end;
            self.wrong(span, "a label is missing: `?stimulus`, `!response` or `*`");
            return None;
        };
        if cursor.rest().starts_with('*') {
            cursor.at += 1;
            return Some((self.sts.labels_of(direction).collect(), false));
        }
        let (name, span) = cursor.name();
        let named = |id: &LabelId| {
            let label = self.sts.label(*id);
            label.name == name || format!("{}.{}", label.channel, label.name) == name
        };
        let found: Vec<LabelId> = self.sts.labels_of(direction).filter(named).collect();
        if found.is_empty() {
            let mark = direction.mark();
            let what = match direction {
                Direction::Stimulus => "stimulus",
                _ => "response",
            };
            let known = self.sts.labels_of(direction);
            let known: Vec<&str> = known.map(|id| self.sts.label(id).name.as_str()).collect();
            let hint = did_you_mean(name, known.iter().copied())
                .or_else(|| Some(format!("the model has {}", listed(mark, &known))));
            let message = format!("the model has no {what} `{mark}{name}`");
            let span = start..span.end;
            let diagnostic = Diagnostic::new(codes::UNKNOWN_LABEL, 0, span, message);
            self.diagnostics.push(diagnostic.maybe_hint(hint));
            return None;
        }
        Some((found, true))
    }

    /// One part of `?lock(passcode=17, force)`: `name=value`, or any condition.
    fn argument(&mut self, cursor: &Cursor<'_>, part: Range<usize>, label: LabelId) -> Read<Expr> {
        let text = cursor.slice(part.clone());
        let equation = text.split_once('=').filter(|(name, value)| {
            let name = name.trim();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name && !value.starts_with(['=', '~'])
        });
        let Some((name, value)) = equation else {
            return self.checked(text, part.start, Some(label));
        };
        let parameters = &self.sts.label(label).parameters;
        let Some(position) = parameters.iter().position(|p| p.name == name.trim()) else {
            let known: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            let shown = self.sts.label(label).marked_name();
            let hint = did_you_mean(name.trim(), known.iter().copied())
                .or_else(|| (!known.is_empty()).then(|| format!("it has {}", listed("", &known))));
            let start = part.start + (name.len() - name.trim_start().len());
            let span = start..start + name.trim().len();
            let message = format!("{shown} has no parameter `{}`", name.trim());
            let diagnostic = Diagnostic::new(codes::UNKNOWN_NAME, 0, span, message);
            self.diagnostics.push(diagnostic.maybe_hint(hint));
            return None;
        };
        let ty = &parameters[position].ty;
        let before = self.diagnostics.len();
        let offset = part.start + name.len() + 1;
        let value = self.checker(value, offset, Some(label), |checker| checker.of_type(ty));
        let equal = Expr::binary(BinaryOp::Eq, Expr::Param(position as u32), value);
        (self.diagnostics.len() == before).then_some(equal)
    }

    /// A condition up to `or` or the end.
    fn condition(&mut self, cursor: &mut Cursor<'_>, label: Option<LabelId>) -> Read<Expr> {
        let span = cursor.until_word(&["or"]);
        let text = cursor.slice(span.clone());
        if text.trim().is_empty() {
            self.wrong(span, "a condition is missing after `where`");
            return None;
        }
        self.checked(text, span.start, label)
    }

    fn checked(&mut self, text: &str, offset: usize, label: Option<LabelId>) -> Read<Expr> {
        let before = self.diagnostics.len();
        let condition = self.checker(text, offset, label, |checker| checker.condition());
        (self.diagnostics.len() == before).then_some(condition)
    }

    fn checker<T>(
        &mut self,
        text: &str,
        offset: usize,
        label: Option<LabelId>,
        check: impl FnOnce(&mut Checker<'_>) -> T,
    ) -> T {
        check(&mut Checker {
            names: Names {
                types: self.sts.types(),
                variables: &self.seen.variables,
                parameters: label.map_or(&[], |label| &self.sts.label(label).parameters),
                locals: &[],
                functions: &self.seen.functions,
                broken: &[],
                constants: &[],
            },
            text: &Text::plain(text, offset),
            file: 0,
            budget: *self.sts.budget(),
            diagnostics: &mut self.diagnostics,
            generated: Generated {
                known: self.sts.functions(),
                first: self.sts.functions().len(),
                new: None,
            },
        })
    }

    /// Locations joined by `or`, and a condition.
    fn place(&mut self, cursor: &mut Cursor<'_>) -> Read<Item> {
        let mut locations = self.location(cursor)?;
        while cursor.takes_word("or") {
            locations.extend(self.location(cursor)?);
        }
        let condition = match cursor.takes_word("where") {
            true => self.condition(cursor, None)?,
            false => Expr::TRUE,
        };
        Some(Item::Here {
            locations,
            condition,
        })
    }

    /// A location by its name, or `Process.name`; all that have it, where there are several.
    fn location(&mut self, cursor: &mut Cursor<'_>) -> Read<Vec<LocationId>> {
        let (name, span) = cursor.name();
        let all = self.sts.locations().iter().enumerate();
        let found: Vec<LocationId> = all
            .filter(|(_, location)| {
                let process = &self.sts.processes()[location.process.index()].name;
                location.name == name || format!("{process}.{}", location.name) == name
            })
            .map(|(index, _)| LocationId::from_index(index))
            .collect();
        if found.is_empty() {
            let named = self.sts.locations().iter().map(|l| l.name.as_str());
            let known: Vec<&str> = named.filter(|name| !name.starts_with('_')).collect();
            let hint = did_you_mean(name, known.iter().copied())
                .or_else(|| Some(format!("the model has {}", listed("", &known))));
            let message = match name {
                "" => "the name of a location is missing".to_owned(),
                _ => format!("the model has no location `{name}`"),
            };
            let diagnostic = Diagnostic::new(codes::UNKNOWN_STATE, 0, span, message);
            self.diagnostics.push(diagnostic.maybe_hint(hint));
            return None;
        }
        Some(found)
    }
}

/// At most a dozen names for a hint.
fn listed(mark: &str, names: &[&str]) -> String {
    const MAX_NAMES: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| format!("`{mark}{name}`"))
        .collect();
    match names.len() {
        0 => "none".to_owned(),
        count if count > MAX_NAMES => {
            format!("{} and {} more", shown.join(", "), count - MAX_NAMES)
        }
        _ => shown.join(", "),
    }
}
