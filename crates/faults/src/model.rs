//! The models: of the honest systems, where each `ping` is answered with a `pong`, and two for which every search is
//! long.

use std::sync::Arc;
use std::time::Duration;

use ioco_sts::Sts;

pub const TEXT: &str = "
external 'wire'
process('ping') {
  channel('wire') {
    stimulus 'ping'
    response 'pong'
  }
  state 'idle'
  repeat {
    o { receive 'ping'; send 'pong' }
  }
}
";

/// Many states, and values without end.
pub const LARGE: &str = "
external 'wire'
process('large') {
  channel('wire') {
    stimulus 'add', { 'x' => :integer, 'y' => :integer }
    response 'sum', { 'z' => :integer }
  }
  var 'a', :integer, 0
  var 'b', :integer, 0
  state 'idle'
  repeat {
    o { receive 'add', constraint: '0 <= x && x <= 1000 && 0 <= y && y <= 1000 && a < 1000000',
          update: 'a = a + x; b = b + y * 3'
        send 'sum', constraint: 'z == a + b' }
  }
}
";

/// Stimuli that are possible only behind tens of thousands of others, and so many of them that looking for a way to
/// each takes minutes. Every one is answered with a `pong`.
pub fn deep() -> String {
    let (mut stimuli, mut ways) = (String::new(), String::new());
    for number in 0..200 {
        stimuli.push_str(&format!("    stimulus 'open{number}'\n"));
        let (a, b) = (50_000 + number, 70_000 + number);
        ways.push_str(&format!(
            "    o {{ receive 'open{number}', constraint: 'a > {a} && b > {b}'; send 'pong' }}\n"
        ));
    }
    format!(
        "
external 'wire'
process('deep') {{
  channel('wire') {{
    stimulus 'left'
    stimulus 'right'
{stimuli}    response 'pong'
  }}
  var 'a', :integer, 0
  var 'b', :integer, 0
  state 'idle'
  repeat {{
    o {{ receive 'left', update: 'a = a + 1'; send 'pong' }}
    o {{ receive 'right', update: 'b = b + 1'; send 'pong' }}
{ways}  }}
}}
"
    )
}

/// The model with this time of silence.
pub fn ping(timeout: Duration) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("ping.aml", TEXT);
    match loaded.sts {
        Some(sts) => Arc::new(sts.with_timeout(timeout.as_nanos() as u64)),
        None => panic!("the model of the suite is wrong: {:?}", loaded.diagnostics),
    }
}
