//! The data-heavy example: the sizes of its suites are known, and its text keeps to them.

use std::sync::Arc;

use ioco_generate::{Confirm, Extent, Path, Share, Walk};
use ioco_solve::{Embedded, GuardSolver};
use ioco_sts::{Relation, Semantics};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

#[test]
fn the_microscope_has_fifteen_traces_and_then_thousands() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/microscope/model.aml"
    );
    let sts = ioco_aml::load(path, &Files).sts.expect("a model");
    let semantics = Semantics::new(
        Arc::clone(&sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut confirm = Confirm::new(semantics);
    for (length, traces) in [(0, 1), (1, 15), (2, 3663)] {
        let solver = Embedded::new(sts.types(), sts.functions());
        let rng = ChaCha8Rng::seed_from_u64(5);
        let mut walk = Walk::new(&sts, Extent::of_length(length), solver, rng);
        let mut sink = |path: &Path<'_>| {
            assert_eq!(confirm.path(path), Ok(()));
            true
        };
        let tally = walk.run(&Share::whole(), &mut sink);
        assert_eq!((tally.paths, tally.undecided), (traces, 0));
    }
}
