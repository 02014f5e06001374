//! Regular expressions by backtracking: the subset that the generator writes. Also lists some
//! strings of the language.

#[derive(Clone, Debug)]
enum Node {
    Char(char),
    Any,
    /// Ranges, and whether they are excluded.
    Class(Vec<(char, char)>, bool),
    Start,
    End,
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

pub struct Regex(Node);

impl Regex {
    /// `None` where the pattern uses something that this subset does not have.
    pub fn read(text: &str) -> Option<Regex> {
        let mut parser = RegexParser {
            chars: text.chars().collect(),
            at: 0,
        };
        let node = parser.either()?;
        (parser.at == parser.chars.len()).then_some(Regex(node))
    }

    /// Whether a part of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        (0..=chars.len()).any(|from| matches(&self.0, &chars, from, &mut |_| true))
    }

    /// Some strings that match, and some that nearly do.
    pub fn samples(&self) -> Vec<String> {
        let mut found = samples(&self.0);
        found.truncate(60);
        found
    }
}

fn matches(node: &Node, text: &[char], at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
    match node {
        Node::Char(c) => text.get(at) == Some(c) && then(at + 1),
        Node::Any => text.get(at).is_some_and(|c| *c != '\n') && then(at + 1),
        Node::Class(ranges, negated) => {
            let fits = |c: &char| ranges.iter().any(|(low, high)| low <= c && c <= high);
            text.get(at).is_some_and(|c| fits(c) != *negated) && then(at + 1)
        }
        Node::Start => at == 0 && then(at),
        Node::End => at == text.len() && then(at),
        Node::Sequence(parts) => match parts.split_first() {
            None => then(at),
            Some((first, rest)) => {
                let rest = Node::Sequence(rest.to_vec());
                matches(first, text, at, &mut |next| {
                    matches(&rest, text, next, then)
                })
            }
        },
        Node::Either(options) => options.iter().any(|o| matches(o, text, at, then)),
        Node::Repeat(inner, least, most) => {
            if *most == Some(0) {
                return then(at);
            }
            let fewer = Node::Repeat(
                inner.clone(),
                least.saturating_sub(1),
                most.map(|most| most - 1),
            );
            let more = matches(inner, text, at, &mut |next| {
                (next > at || *least > 0) && matches(&fewer, text, next, then)
            });
            more || (*least == 0 && then(at))
        }
    }
}

fn samples(node: &Node) -> Vec<String> {
    match node {
        Node::Char(c) => vec![c.to_string()],
        Node::Any => vec!["q".to_owned(), "a".to_owned()],
        Node::Class(ranges, false) => {
            let mut found: Vec<String> = Vec::new();
            for (low, high) in ranges {
                found.push(low.to_string());
                if low != high {
                    found.push(high.to_string());
                }
            }
            found
        }
        Node::Class(ranges, true) => ['q', 'a', 'z', '0', '-']
            .iter()
            .filter(|c| !ranges.iter().any(|(low, high)| low <= c && *c <= high))
            .map(char::to_string)
            .take(2)
            .collect(),
        Node::Start | Node::End => vec![String::new()],
        Node::Sequence(parts) => parts.iter().fold(vec![String::new()], |so_far, part| {
            let mut all = Vec::new();
            for rest in samples(part) {
                all.extend(so_far.iter().map(|begin| format!("{begin}{rest}")));
            }
            all.truncate(60);
            all
        }),
        Node::Either(options) => options.iter().flat_map(samples).collect(),
        Node::Repeat(inner, least, most) => {
            let most = most.unwrap_or(least + 4).min(least + 4);
            let items = samples(inner);
            let mut found = Vec::new();
            for count in *least..=most {
                let first = items.first().cloned().unwrap_or_default();
                let last = items.last().cloned().unwrap_or_default();
                found.push(first.repeat(count));
                if first != last && count > 0 {
                    found.push(format!("{}{last}", first.repeat(count - 1)));
                    found.push(last.repeat(count));
                }
            }
            found.dedup();
            found
        }
    }
}

struct RegexParser {
    chars: Vec<char>,
    at: usize,
}

impl RegexParser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn either(&mut self) -> Option<Node> {
        let mut options = vec![self.sequence()?];
        while self.peek() == Some('|') {
            self.at += 1;
            options.push(self.sequence()?);
        }
        Some(match options.len() {
            1 => options.remove(0),
            _ => Node::Either(options),
        })
    }

    fn sequence(&mut self) -> Option<Node> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let atom = self.atom()?;
            parts.push(self.repeated(atom)?);
        }
        Some(Node::Sequence(parts))
    }

    fn repeated(&mut self, atom: Node) -> Option<Node> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let least = self.number()?;
                let most = match self.next()? {
                    '}' => Some(least),
                    ',' if self.peek() == Some('}') => {
                        self.at += 1;
                        None
                    }
                    ',' => {
                        let most = self.number()?;
                        (self.next()? == '}').then_some(())?;
                        Some(most)
                    }
                    _ => return None,
                };
                return Some(Node::Repeat(Box::new(atom), least, most));
            }
            _ => return Some(atom),
        };
        self.at += 1;
        if matches!(self.peek(), Some('?' | '*' | '+' | '{')) {
            return None;
        }
        Some(Node::Repeat(Box::new(atom), least, most))
    }

    fn number(&mut self) -> Option<usize> {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[from..self.at].iter().collect();
        digits.parse().ok()
    }

    fn atom(&mut self) -> Option<Node> {
        Some(match self.next()? {
            '(' => {
                if self.peek() == Some('?') {
                    self.at += 1;
                    (self.next()? == ':').then_some(())?;
                }
                let inner = self.either()?;
                (self.next()? == ')').then_some(())?;
                inner
            }
            '[' => {
                let negated = self.peek() == Some('^');
                self.at += usize::from(negated);
                let mut ranges = Vec::new();
                loop {
                    let low = match self.next()? {
                        ']' => break,
                        '\\' => return None,
                        c => c,
                    };
                    let is_range = self.peek() == Some('-')
                        && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
                    if is_range {
                        self.at += 1;
                        ranges.push((low, self.next()?));
                    } else {
                        ranges.push((low, low));
                    }
                }
                Node::Class(ranges, negated)
            }
            '.' => Node::Any,
            '^' => Node::Start,
            '$' => Node::End,
            '\\' => match self.next()? {
                'd' => Node::Class(vec![('0', '9')], false),
                'A' | 'z' | 'b' | 'w' | 's' => return None,
                c if c.is_ascii_alphanumeric() => return None,
                c => Node::Char(c),
            },
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            c => Node::Char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Regex;

    #[test]
    fn the_matcher_agrees_with_the_library_on_its_own_samples() {
        for pattern in [
            "^[0-9]+$",
            "a",
            "^a|b$",
            "^(ab|c){1,2}$",
            "^[^a]x?$",
            "b+$",
            "^$",
            "^a.c$",
            "\\.",
        ] {
            let own = Regex::read(pattern).unwrap();
            let library = ioco_sts::Pattern::new(pattern).unwrap();
            let mut texts = own.samples();
            texts.extend(["", "a", "b", "ab", "abab", "x", "zx", "a.c"].map(str::to_owned));
            for text in texts {
                assert_eq!(
                    own.matches(&text),
                    library.matches(&text),
                    "{pattern} {text:?}"
                );
            }
        }
    }
}
