//! A step as a person types it: `lock code=17`, or as ioco shows it: `?lock(code=17)`, `!locked`.

use ioco_adapters::read_value;
use ioco_sts::{Action, Direction, LabelId, Sts, Type, Types, Value};

/// What is wrong with a typed step, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    pub message: String,
    pub hint: Option<String>,
}

/// The direction and the action that a line stands for. A name without a mark is a stimulus where there is one.
pub fn read(line: &str, sts: &Sts) -> Result<(Direction, Action), Wrong> {
    let line = line.trim();
    let name_end = line.find(|c: char| c == '(' || c.is_whitespace());
    let (word, rest) = line.split_at(name_end.unwrap_or(line.len()));
    let (direction, name) = match (word.strip_prefix('?'), word.strip_prefix('!')) {
        (Some(name), _) => (Direction::Stimulus, name),
        (_, Some(name)) => (Direction::Response, name),
        _ if sts.label_named(Direction::Stimulus, word).is_some() => (Direction::Stimulus, word),
        _ if sts.label_named(Direction::Response, word).is_some() => (Direction::Response, word),
        _ => (Direction::Stimulus, word),
    };
    let label = sts.label_named(direction, name).ok_or_else(|| {
        let known = sts
            .labels_of(direction)
            .map(|id| sts.label(id).name.as_str());
        let (kind, kinds) = match direction {
            Direction::Response => ("response", "responses"),
            _ => ("stimulus", "stimuli"),
        };
        Wrong {
            message: format!("the model has no {kind} '{name}'"),
            hint: Some(format!(
                "its {kinds} are: {}",
                known.collect::<Vec<_>>().join(", ")
            )),
        }
    })?;
    let mut values = vec![Value::Void; sts.label(label).parameters.len()];
    for (position, text) in split(rest.trim(), label, sts)? {
        let parameter = &sts.label(label).parameters[position];
        values[position] = value(text, &parameter.ty, sts.types()).map_err(|why| Wrong {
            message: format!("{} of {word}: {why}", parameter.name),
            hint: None,
        })?;
    }
    Ok((direction, Action { label, values }))
}

/// The values after a name, each with the position of its parameter.
fn split<'t>(text: &'t str, label: LabelId, sts: &Sts) -> Result<Vec<(usize, &'t str)>, Wrong> {
    let parameters = &sts.label(label).parameters;
    let named = |piece: &str| {
        parameters.iter().position(|parameter| {
            let after = piece.strip_prefix(parameter.name.as_str());
            after.is_some_and(|after| after.starts_with('='))
        })
    };
    let no_values = || {
        let name = sts.label(label).marked_name();
        let names: Vec<String> = parameters.iter().map(|p| format!("{}=…", p.name)).collect();
        Wrong {
            message: format!("'{text}' does not give the values of {name}"),
            hint: Some(format!(
                "write: {}",
                [&[name][..], &names].concat().join(" ")
            )),
        }
    };
    let pieces: Vec<&str> = match text.strip_prefix('(') {
        Some(inside) => pieces(inside.strip_suffix(')').ok_or_else(no_values)?),
        // A value may have spaces: it ends where the next parameter begins.
        None => {
            let is_first = |at: usize| at == 0 || text[..at].ends_with(char::is_whitespace);
            let starts = text.char_indices().map(|(at, _)| at);
            let starts: Vec<usize> = starts
                .filter(|at| is_first(*at) && (*at == 0 || named(&text[*at..]).is_some()))
                .collect();
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            starts
                .iter()
                .zip(ends)
                .map(|(at, end)| text[*at..end].trim())
                .collect()
        }
    };
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    let values = pieces.map(|piece| {
        let position = named(piece).ok_or_else(no_values)?;
        Ok((
            position,
            piece[parameters[position].name.len() + 1..].trim(),
        ))
    });
    values.collect()
}

/// What stands between the commas that are inside no text, list or structure.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let (mut in_text, mut escaped) = (false, false);
    for (at, sign) in text.char_indices() {
        match sign {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[begin..].trim());
    pieces
}

/// A value as JSON, or as ioco shows it. Text need not be quoted.
fn value(text: &str, ty: &Type, types: &Types) -> Result<Value, String> {
    read_value(&json(text, ty, types), ty, types).map_err(|mismatch| mismatch.0)
}

/// JSON text for a value of a type.
fn json(text: &str, ty: &Type, types: &Types) -> String {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let inside = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    match ty {
        _ if text == ":void" => "null".to_owned(),
        Type::Str | Type::Enum(_) => match inside('"', '"') {
            Some(shown) => quote(&unescaped(shown)),
            None => quote(text),
        },
        Type::Array(item) => match inside('[', ']') {
            Some(items) => {
                let items = pieces(items).into_iter().filter(|item| !item.is_empty());
                let items: Vec<String> = items.map(|text| json(text, item, types)).collect();
                format!("[{}]", items.join(","))
            }
            None => quote(text),
        },
        Type::Struct(id) => match inside('{', '}') {
            Some(fields) => {
                let fields = pieces(fields).into_iter().filter(|field| !field.is_empty());
                let fields: Vec<String> = fields
                    .map(|field| {
                        let (name, text) = field.split_once(':').unwrap_or((field, ""));
                        let name = name.trim().trim_matches('"');
                        let declared = types.structs.get(id.index());
                        let ty = declared.and_then(|s| s.fields.iter().find(|(n, _)| n == name));
                        let text = text.trim();
                        let value = ty.map_or_else(|| quote(text), |(_, ty)| json(text, ty, types));
                        format!("{}:{value}", quote(name))
                    })
                    .collect();
                format!("{{{}}}", fields.join(","))
            }
            None => quote(text),
        },
        _ if serde_json::from_str::<serde_json::Value>(text).is_ok() => text.to_owned(),
        _ => quote(text),
    }
}

/// Text between quotes, whether JSON or Rust wrote it.
fn unescaped(text: &str) -> String {
    if let Ok(read) = serde_json::from_str(&format!("\"{text}\"")) {
        return read;
    }
    let mut read = String::new();
    let mut rest = text.chars();
    while let Some(sign) = rest.next() {
        if sign != '\\' {
            read.push(sign);
            continue;
        }
        match rest.next() {
            Some('n') => read.push('\n'),
            Some('r') => read.push('\r'),
            Some('t') => read.push('\t'),
            Some('0') => read.push('\0'),
            Some('u') => {
                let digits: String = (rest.by_ref().skip(1)).take_while(|c| *c != '}').collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                read.extend(code.and_then(char::from_u32));
            }
            Some(other) => read.push(other),
            None => {}
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "external 'shop'
struct 'item', {'name' => :string, 'size' => 'Size'}
enum 'Size', 'small', 'large'
process('shop') {
  channel('shop') {
    stimulus 'push', {'x' => :integer, 'y' => :string}
    stimulus 'order', {'items' => ['item'], 'price' => :decimal}
    responses 'done', 'push'
  }
  repeat { o { receive 'push'; send 'done' }; o { receive 'order'; send 'done' } }
}
";

    fn sts() -> std::sync::Arc<Sts> {
        let loaded = ioco_aml::load_text("shop.aml", MODEL);
        loaded
            .sts
            .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
    }

    #[test]
    fn what_is_shown_reads_back_as_itself() {
        let sts = sts();
        for line in [
            "?push",
            "!push",
            "!done",
            "?push(x=3)",
            r#"?push(x=-3, y="a \"b\", c=1) \u{1b}\n")"#,
            r#"?order(items=[{name: "a, }", size: large}, {name: "", size: small}], price=1.50)"#,
        ] {
            let (_, action) = read(line, &sts).unwrap_or_else(|wrong| panic!("{line}: {wrong:?}"));
            let shown = action.show(&sts);
            let (_, again) = read(&shown, &sts).expect("read");
            assert_eq!(again, action, "{shown}");
            if !line.contains("1.50") {
                assert_eq!(shown, line);
            }
        }
    }

    #[test]
    fn values_may_be_typed_without_quotes_and_with_spaces() {
        let sts = sts();
        let shown = |line: &str| read(line, &sts).map(|(_, action)| action.show(&sts));
        assert_eq!(
            shown("push x=3 y=two words").as_deref(),
            Ok("?push(x=3, y=\"two words\")")
        );
        assert_eq!(shown("push y=7 x=3").as_deref(), Ok("?push(x=3, y=\"7\")"));
        assert_eq!(shown("done").as_deref(), Ok("!done"));
        assert_eq!(
            shown(r#"order items=[{"name": "a", "size": "small"}]"#).as_deref(),
            Ok(r#"?order(items=[{name: "a", size: small}])"#)
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_write() {
        let sts = sts();
        let wrong = |line: &str| read(line, &sts).expect_err(line);
        assert_eq!(wrong("jump").message, "the model has no stimulus 'jump'");
        assert_eq!(
            wrong("!jump").hint.as_deref(),
            Some("its responses are: done, push")
        );
        for line in ["push 3", "push(3)", "push(x=3", "push z=1"] {
            assert_eq!(
                wrong(line).hint.as_deref(),
                Some("write: ?push x=… y=…"),
                "{line}"
            );
        }
        assert!(wrong("push x=three").message.starts_with("x of push: "));
    }
}
