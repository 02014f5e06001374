//! Strong and weak test generation over the tree of subsystems.

use super::board::Board;

pub(crate) fn run(board: &Board, _weak: bool) {
    super::single::run(board);
}
