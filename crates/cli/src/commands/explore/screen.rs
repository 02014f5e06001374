//! A walk on the whole screen: the current states, what can happen, the steps so far as a chart, and
//! a line to type in.

use std::io;

use ioco_sts::Step;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Paragraph, Wrap};
use ratatui::{DefaultTerminal, Frame};

use super::walk::{HELP, Reply, Walk};

const KEYS: &str =
    "↑↓ choose  Enter take  b back  r restart  n other values  / type a step  ? help  q quit";

/// Walks until the person has enough. The terminal is put back as it was, also after a panic.
pub fn run(walk: Walk) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let result = Screen::new(walk).serve(&mut terminal);
    ratatui::try_restore()?;
    result
}

struct Screen {
    walk: Walk,
    list: ListState,
    /// What is being typed, if anything is.
    typed: Option<String>,
    message: String,
    help: bool,
    done: bool,
}

impl Screen {
    fn new(walk: Walk) -> Screen {
        Screen {
            walk,
            list: ListState::default().with_selected(Some(0)),
            typed: None,
            message: String::new(),
            help: false,
            done: false,
        }
    }

    fn serve(&mut self, terminal: &mut DefaultTerminal) -> io::Result<()> {
        while !self.done {
            terminal.draw(|frame| self.draw(frame))?;
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                self.key(key);
            }
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent) {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            self.done = true;
            return;
        }
        if self.help {
            self.help = false;
            return;
        }
        if let Some(mut typed) = self.typed.take() {
            match key.code {
                KeyCode::Enter => self.command(typed.trim()),
                KeyCode::Esc => {}
                KeyCode::Backspace if typed.is_empty() => {}
                KeyCode::Backspace => {
                    typed.pop();
                    self.typed = Some(typed);
                }
                KeyCode::Char(character) => {
                    typed.push(character);
                    self.typed = Some(typed);
                }
                _ => self.typed = Some(typed),
            }
            return;
        }
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.list.select_previous(),
            KeyCode::Down | KeyCode::Char('j') => self.list.select_next(),
            KeyCode::Home => self.list.select_first(),
            KeyCode::End => self.list.select_last(),
            KeyCode::Enter | KeyCode::Right | KeyCode::Char(' ') => {
                if let Some(chosen) = self.chosen() {
                    self.command(&(chosen + 1).to_string());
                }
            }
            KeyCode::Char('b') | KeyCode::Backspace | KeyCode::Left => self.command("back"),
            KeyCode::Char('r') => self.command("reset"),
            KeyCode::Char('n') => self.command("again"),
            KeyCode::Char('/' | ':') => self.typed = Some(String::new()),
            KeyCode::Char(sign @ ('?' | '!')) if self.typed.is_none() && sign == '!' => {
                self.typed = Some(sign.to_string());
            }
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.help = true,
            KeyCode::Char(digit @ '1'..='9') => self.command(&digit.to_string()),
            KeyCode::Char('q') | KeyCode::Esc => self.done = true,
            _ => {}
        }
    }

    /// The chosen step; the list may have got shorter.
    fn chosen(&self) -> Option<usize> {
        let last = self.walk.choices().len().checked_sub(1)?;
        Some(self.list.selected().unwrap_or(0).min(last))
    }

    fn command(&mut self, line: &str) {
        self.message.clear();
        match self.walk.command(line) {
            Reply::Quit => self.done = true,
            Reply::Say(text) => self.message = text.trim_end().to_owned(),
            Reply::Moved => self.list.select_first(),
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>) {
        let [main, bottom] =
            Layout::vertical([Constraint::Min(6), Constraint::Length(2)]).areas(frame.area());
        let wide = main.width >= 80;
        let (left, right) = if wide {
            let halves = [Constraint::Percentage(55), Constraint::Percentage(45)];
            let [left, right] = Layout::horizontal(halves).areas(main);
            (left, right)
        } else {
            let halves = [Constraint::Percentage(60), Constraint::Percentage(40)];
            let [top, under] = Layout::vertical(halves).areas(main);
            (top, under)
        };
        let (states, more) = self.walk.states(8);
        let height = (states.len() + usize::from(more > 0) + 2) as u16;
        let [top, choices] =
            Layout::vertical([Constraint::Length(height), Constraint::Min(4)]).areas(left);
        self.draw_states(frame, top, &states, more);
        self.draw_choices(frame, choices);
        self.draw_chart(frame, right);
        self.draw_bottom(frame, bottom);
        if self.help {
            draw_help(frame);
        }
    }

    fn draw_states(&self, frame: &mut Frame<'_>, area: Rect, states: &[String], more: usize) {
        let mut lines: Vec<Line<'_>> = states
            .iter()
            .map(|state| Line::from(format!("● {state}")))
            .collect();
        if more > 0 {
            lines.push(Line::from(format!("  and {more} more states").dim()));
        }
        let title = format!(" {}: the model may be in ", self.walk.model());
        frame.render_widget(
            Paragraph::new(lines).block(Block::bordered().title(title)),
            area,
        );
    }

    fn draw_choices(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let items: Vec<ListItem<'_>> = self
            .walk
            .choices()
            .iter()
            .enumerate()
            .map(|(index, choice)| {
                let mut spans = vec![
                    Span::from(format!("{:>2} ", index + 1)).dim(),
                    Span::from(choice.text.clone()).bold(),
                ];
                if let Some((target, place)) = &choice.target {
                    spans.push(Span::from(format!(" ──► {target}")));
                    spans.push(Span::from(format!("  {place}")).dim());
                } else {
                    spans.push(Span::from(" is allowed"));
                }
                ListItem::new(Line::from(spans))
            })
            .collect();
        let title = if self.walk.may_be_silent() {
            " what can happen "
        } else {
            " what can happen: a response must come "
        };
        let list = List::new(items)
            .block(Block::bordered().title(title))
            .highlight_symbol("▶ ")
            .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        frame.render_stateful_widget(list, area, &mut self.list);
    }

    /// The steps so far as a two-column chart, the last ones where not all fit.
    fn draw_chart(&self, frame: &mut Frame<'_>, area: Rect) {
        let width = usize::from(area.width.saturating_sub(2));
        let rows = usize::from(area.height.saturating_sub(3));
        let mut lines: Vec<Line<'_>> = self
            .walk
            .steps()
            .enumerate()
            .map(|(index, (step, text))| {
                let number = format!("{:>3}  ", index + 1);
                Line::from(vec![
                    Span::from(number).dim(),
                    Span::from(arrow(step, &text, width)),
                ])
            })
            .collect();
        let hidden = lines.len().saturating_sub(rows);
        lines.drain(..hidden);
        let heading = format!(
            "     {:<1$}system",
            "tester",
            width.saturating_sub(11).max(7)
        );
        lines.insert(0, Line::from(heading.dim()));
        let title = match hidden {
            0 => " so far ".to_owned(),
            earlier => format!(" so far ({earlier} earlier) "),
        };
        frame.render_widget(
            Paragraph::new(lines).block(Block::bordered().title(title)),
            area,
        );
    }

    fn draw_bottom(&self, frame: &mut Frame<'_>, area: Rect) {
        let first = match &self.typed {
            Some(typed) => Line::from(vec![
                Span::from("step: ").bold(),
                Span::from(typed.clone()),
                Span::from("█"),
                Span::from("   lock code=17 · !locked · silence · Esc leaves").dim(),
            ]),
            None => Line::from(self.message.lines().next().unwrap_or("").bold()),
        };
        frame.render_widget(Paragraph::new(vec![first, Line::from(KEYS.dim())]), area);
    }
}

/// A stimulus goes to the right, a response comes from there.
fn arrow(step: &Step, text: &str, width: usize) -> String {
    let room = width.saturating_sub(6);
    let line = |length: usize| "─".repeat(room.saturating_sub(length + 2).clamp(1, 12));
    let length = text.chars().count();
    match step {
        Step::Stimulus(_) => format!("{text} {}►", line(length)),
        Step::Response(_) => {
            let line = line(length);
            let blank = room.saturating_sub(length + line.chars().count() + 2);
            format!("{}◄{line} {text}", " ".repeat(blank))
        }
        Step::Quiescence => format!("{}silence", " ".repeat(room.saturating_sub(7) / 2)),
    }
}

fn draw_help(frame: &mut Frame<'_>) {
    let area = frame.area();
    let height = (HELP.lines().count() + 5) as u16;
    let width = 72.min(area.width);
    let place = Rect {
        x: (area.width - width) / 2,
        y: area.height.saturating_sub(height) / 2,
        width,
        height: height.min(area.height),
    };
    let text = format!("After `/` a line can be typed:\n{HELP}\nAny key closes this.");
    let block = Block::bordered().title(" help ");
    frame.render_widget(Clear, place);
    frame.render_widget(
        Paragraph::new(text).wrap(Wrap { trim: false }).block(block),
        place,
    );
}

#[cfg(test)]
mod tests {

    use ioco_sts::Relation;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    const DOOR: &str = "external 'door'
process('door') {
  channel('door') { stimulus 'open', {'code' => integer(4..4)}; responses 'opened', 'alarm' }
  state 'Closed'
  receive 'open', constraint: 'code > 0'
  choice { o { send 'opened' }; o { send 'alarm'; goto 'Closed' } }
  state 'Open'
}
";

    fn screen() -> Screen {
        let sts = ioco_aml::load_text("door.aml", DOOR).sts.expect("a model");
        let semantics = ioco_solve::semantics(&sts, Relation::Ioco);
        Screen::new(Walk::new(sts, semantics, 1))
    }

    fn press(screen: &mut Screen, keys: &str) {
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                other => KeyCode::Char(other),
            };
            screen.key(KeyEvent::from(code));
        }
    }

    fn drawn(screen: &mut Screen, width: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, 16)).expect("a terminal");
        terminal.draw(|frame| screen.draw(frame)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn states_choices_and_the_chart_are_on_one_screen() {
        let mut screen = screen();
        press(&mut screen, "\n1");
        insta::assert_snapshot!(drawn(&mut screen, 100));
    }

    #[test]
    fn a_narrow_terminal_puts_the_chart_below() {
        let mut screen = screen();
        press(&mut screen, "\n");
        insta::assert_snapshot!(drawn(&mut screen, 50));
    }

    #[test]
    fn a_step_can_be_typed_and_a_forbidden_one_is_reported() {
        let mut screen = screen();
        press(&mut screen, "/open code=4\n!opened\n/alarm\n");
        assert_eq!(screen.walk.steps().count(), 2);
        assert!(
            screen.message.contains("does not allow !alarm"),
            "{}",
            screen.message
        );
        press(&mut screen, "bbb");
        assert_eq!(screen.walk.steps().count(), 0);
    }

    #[test]
    fn any_size_of_terminal_is_drawn() {
        let mut screen = screen();
        press(&mut screen, "\n?");
        for width in [1, 7, 20, 79, 80, 300] {
            drawn(&mut screen, width);
        }
        press(&mut screen, "xq");
        assert!(screen.done);
    }
}
