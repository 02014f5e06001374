//! Model text: AML, expressions, queries and NuSMV.

use std::sync::{Arc, OnceLock};

use ioco_budget::{Budget, Interrupt};
use ioco_formats::json;
use ioco_smv::{Criterion, GoalOptions};
use ioco_sts::{Env, Sts, Value, show_expr};

/// Small, so that a reader that ignores its limits is noticed by what it does, not by how long it takes.
pub const BUDGET: Budget = Budget {
    steps: 20_000,
    bytes: 1 << 20,
    depth: 100,
    states: 100,
    message: 1 << 20,
    queue: 100,
    wire: 1 << 10,
    log: 1 << 10,
};

/// A model with a little of everything, for readers that need one.
const MODEL: &str = "external 'c'
enum 'Colour', 'Red', 'Green'
struct 'Pair', {'left' => :integer, 'right' => [:string]}
function('double', [:integer] => :integer) { |v| v + v }
process('door') {
  channel('c') {
    stimulus 'lock', {'n' => :integer, 'p' => 'Pair'}
    response 'opened', {'n' => :integer, 'c' => 'Colour', 'd' => :decimal, 's' => :string, 'xs' => [:integer]}
  }
  var 'm', :integer, 0
  var 'd', :decimal, 0.0
  var 't', :string, 'x'
  var 'on', :boolean, false
  var 'xs', [:integer], []
  var 'e', 'Colour', 'Red'
  state 'idle'
  repeat {
    o { receive 'lock', constraint: 'n > m', update: 'm = n' }
    o { send 'opened', constraint: 'n == m' }
  }
}
";

pub fn model() -> &'static Arc<Sts> {
    static MODEL_STS: OnceLock<Arc<Sts>> = OnceLock::new();
    MODEL_STS.get_or_init(|| {
        let loaded = ioco_aml::load_text("door.aml", MODEL);
        let mut sts = loaded
            .sts
            .unwrap_or_else(|| panic!("the model of the targets: {:?}", loaded.diagnostics));
        Arc::make_mut(&mut sts).set_budget(BUDGET);
        sts
    })
}

struct OneFile<'a>(&'a str);

impl ioco_aml::Sources for OneFile<'_> {
    /// A file that includes others includes itself, which a reader must notice.
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
}

pub fn aml(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    if let Ok(formatted) = ioco_aml::format(&text) {
        let again = ioco_aml::format(&formatted);
        assert_eq!(again, Ok(formatted), "a formatted text is formatted");
    }
    let loaded = ioco_aml::load_within("fuzz.aml", &OneFile(&text), &BUDGET);
    for diagnostic in &loaded.diagnostics {
        let _ = ioco_aml::render(diagnostic, &loaded.files, false);
    }
    let Some(sts) = loaded.sts else { return false };
    let written = json::write(&sts);
    let again = json::read_within(&written, &BUDGET);
    assert_eq!(again.as_ref(), Ok(&*sts), "JSON loses nothing");
    true
}

pub fn expression(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let sts = model();
    let label = sts.labels_of(ioco_sts::Direction::Response).next();
    let Ok(expr) = ioco_aml::parse_expression(&text, sts, label) else {
        return false;
    };
    let shown = show_expr(sts, label, &expr);
    let again = ioco_aml::parse_expression(&shown, sts, label);
    let initial: Vec<Value> = sts.variables().iter().map(|v| v.initial.clone()).collect();
    let void = vec![Value::Void; 5];
    let given = vec![
        Value::Int(3),
        Value::Enum(ioco_sts::EnumId(0), 1),
        Value::Decimal("1.5".parse().expect("a decimal")),
        Value::str("ab"),
        Value::Array(Arc::from([Value::Int(1), Value::Int(2)])),
    ];
    for parameters in [void, given] {
        let env = Env {
            variables: &initial,
            parameters: &parameters,
            functions: sts.functions(),
        };
        let value = expr.eval(env);
        // What is shown is for people, and not always an expression again; where it is one, it means the same.
        if let Ok(again) = &again {
            assert_eq!(again.eval(env), value, "`{text}` shown as `{shown}`");
        }
    }
    true
}

pub fn query(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    ioco_aml::query::parse("fuzz.query", &text, model()).is_ok()
}

pub fn smv(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let (model, diagnostics) =
        ioco_smv::load_within(&text, "fuzz.smv", &BUDGET, &Interrupt::default());
    for diagnostic in diagnostics {
        let _ = diagnostic.to_string();
    }
    let Some(mut model) = model else {
        return false;
    };
    let options = GoalOptions {
        max_values: Some(3),
        ..GoalOptions::default()
    };
    let goals = model.goals(&[Criterion::Decision, Criterion::Value], &options);
    for goal in goals.iter().take(20) {
        if let Ok(again) = model.user_goal(&goal.text) {
            assert_eq!(again.text, goal.text, "a printed goal is read back");
        }
    }
    true
}
