//! What running a recorded failure again says, in words.

use ioco_engine::Replayed;

/// One sentence; `failed` of `runs` runs failed, in whatever way.
pub fn replayed(said: &Replayed, failed: u64, runs: u64) -> String {
    let passed = match runs {
        1 => "it did not fail".to_owned(),
        _ => format!("none of {runs} runs failed"),
    };
    match said {
        Replayed::Fixed => format!("fixed: {passed}"),
        Replayed::Unseen { needed } => format!(
            "flaky: {passed}, but an unchanged system also passes sometimes; {needed} runs would decide"
        ),
        Replayed::StillFailing => format!("still failing: {failed} of {runs} runs"),
        Replayed::Different(how) => format!("different now: {how}"),
        Replayed::Allowed { shown } => {
            format!("the model allows it now: {shown} of {runs} runs show it, and none fails")
        }
        Replayed::Flaky { failed, runs } => {
            format!("flaky: {failed} of {runs} runs failed as recorded")
        }
        Replayed::Unusable(message) => message.clone(),
    }
}
