//! The model that every honest system follows: each `ping` is answered with a `pong`.

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

/// The model with this time of silence.
pub fn ping(timeout: Duration) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("ping.aml", TEXT);
    match loaded.sts {
        Some(sts) => Arc::new(sts.with_timeout(timeout.as_nanos() as u64)),
        None => panic!("the model of the suite is wrong: {:?}", loaded.diagnostics),
    }
}
