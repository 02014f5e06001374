//! Goals behind counters: many steps, and data that decides nothing on the way.

use std::sync::Arc;

use ioco_generate::Confirm;
use ioco_generate::cover::{
    Cover, CoverLimits, CoverObserver, Covered, Goal, GoalVerdict, Instance,
};
use ioco_sts::{Direction, Relation, Sts, SwitchId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

struct Silent;

impl CoverObserver for Silent {
    fn decided(&mut self, _: Goal, _: &GoalVerdict, _: Option<&Instance>, _: u64) {}
}

fn load(aml: &str) -> Arc<Sts> {
    struct SingleFile(String);
    impl ioco_aml::Sources for SingleFile {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.clone())
        }
    }
    let loaded = ioco_aml::load("model.aml", &SingleFile(aml.to_owned()));
    let why = format!("{:?}", loaded.diagnostics);
    loaded.sts.unwrap_or_else(|| panic!("{why}"))
}

fn cover(sts: &Arc<Sts>, goals: &[Goal]) -> Covered {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let confirm = Confirm::new(ioco_solve::semantics(sts, Relation::Ioco));
    let limits = CoverLimits::default();
    Cover::new(sts, goals, limits, confirm, &mut rng).run(None, &mut Silent)
}

/// Jobs are put, reserved, buried, and kicked back. Two of them must be buried before both can be kicked at once:
/// two times put, reserve and bury, then watch, stats and kick.
const JOBS: &str = "
external 'queue'
process('queue') {
  channel('queue') {
    stimulus 'put', {'priority' => integer(0..1000), 'body' => :string}
    stimulus 'reserve'
    stimulus 'bury', {'priority' => integer(0..1000)}
    stimulus 'watch', {'tube' => :string}
    stimulus 'stats'
    stimulus 'kick', {'bound' => integer(1..1000)}
    response 'inserted', {'id' => :integer}
    response 'reserved', {'id' => :integer, 'body' => :string}
    response 'buried'
    response 'watching', {'count' => :integer}
    response 'figures', {'ready' => :integer, 'buried' => :integer}
    response 'kicked', {'count' => :integer}
    response 'timed_out'
    response 'not_found'
  }
  var 'next', :integer, 1
  var 'body_of_last', :string, ''
  var 'ready', :integer, 0
  var 'held', :integer, 0
  var 'down', :integer, 0
  var 'watched', :integer, 1
  var 'asked', :boolean, false
  state 'Open'
  choice {
    o { receive 'put', update: 'body_of_last = body'; goto 'Put' }
    o { receive 'reserve'; goto 'Reserving' }
    o { receive 'bury'; goto 'Burying' }
    o { receive 'watch', update: 'watched = watched + 1'; goto 'Watching' }
    o { receive 'stats', constraint: 'watched > 1', update: 'asked = true'; goto 'Stats' }
    o { receive 'kick', constraint: 'asked && bound >= down', update: 'asked = false'; goto 'Kicking' }
  }
  state 'Put'
  send 'inserted', constraint: 'id == next', update: 'next = next + 1; ready = ready + 1'
  goto 'Open'
  state 'Reserving'
  choice {
    o { send 'reserved', constraint: 'ready > 0 && id == next - ready && body == body_of_last', update: 'ready = ready - 1; held = held + 1'; goto 'Open' }
    o { send 'timed_out', constraint: 'ready == 0'; goto 'Open' }
  }
  state 'Burying'
  choice {
    o { send 'buried', constraint: 'held > 0', update: 'held = held - 1; down = down + 1'; goto 'Open' }
    o { send 'not_found', constraint: 'held == 0'; goto 'Open' }
  }
  state 'Watching'
  send 'watching', constraint: 'count == watched'
  goto 'Open'
  state 'Stats'
  send 'figures', constraint: 'buried == down'
  goto 'Open'
  state 'Kicking'
  choice {
    o { send 'kicked', constraint: 'down < 2 && count == down', update: 'ready = ready + down; down = 0'; goto 'Open' }
    o { send 'kicked', constraint: 'down == 2 && count == 2', update: 'ready = ready + 2; down = 0'; goto 'Open' }
    o { send 'kicked', constraint: 'down > 2 && count == down', update: 'ready = ready + down; down = 0'; goto 'Open' }
  }
}
";

#[test]
fn a_goal_of_nine_stimuli_behind_counters_is_covered() {
    let sts = load(JOBS);
    let kicked = sts.label_named(Direction::Response, "kicked");
    let mut all = (0..sts.switches().len()).map(SwitchId::from_index);
    let both = all
        .by_ref()
        .filter(|id| sts.switch(*id).gate.label() == kicked)
        .nth(1);
    let both = Goal::Switch(both.expect("a switch"));
    let covered = cover(&sts, &[both]);
    assert_eq!(covered.unconfirmed, 0);
    let verdict = covered.goals[&both];
    let GoalVerdict::Covered { test } = verdict else {
        panic!("{verdict:?}");
    };
    let given = covered.tests[test].actions();
    let stimuli = given
        .iter()
        .filter(|action| sts.label(action.label).direction == Direction::Stimulus);
    assert_eq!(stimuli.count(), 9, "{given:?}");
}

#[test]
fn all_switches_of_the_job_queue_are_covered() {
    let sts = load(JOBS);
    let covered = cover(&sts, &Goal::switches(&sts));
    for (goal, verdict) in &covered.goals {
        let is_covered = matches!(verdict, GoalVerdict::Covered { .. });
        assert!(is_covered, "{}: {verdict:?}", goal.show(&sts));
    }
}
