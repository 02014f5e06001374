//! One step of the whole network of processes: a switch alone, or the switches of a hand-shake.

use ioco_sts::{Gate, LabelId, LocationId, Sts, SwitchId};

/// A step that locations allow, whatever the data says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The switches that are taken together: one, or the sender of a hand-shake and then its
    /// receivers.
    pub switches: Vec<SwitchId>,
    /// The label whose parameters the guards speak of.
    pub label: Option<LabelId>,
    /// Seen from outside, so counted.
    pub observable: bool,
}

/// The moves that leave a combination of locations, in the order of the model text.
pub fn moves_from(sts: &Sts, locations: &[LocationId]) -> Vec<Move> {
    let mut moves = Vec::new();
    for location in locations {
        for &id in sts.outgoing(*location) {
            let alone = |observable| Move {
                switches: vec![id],
                label: sts.switch(id).gate.label(),
                observable,
            };
            match sts.switch(id).gate {
                Gate::Tau => moves.push(alone(false)),
                Gate::Observable(_) => moves.push(alone(true)),
                Gate::Send(label) => handshakes(sts, locations, id, label, &mut moves),
                Gate::Receive(_) => {}
            }
        }
    }
    moves
}

fn handshakes(
    sts: &Sts,
    locations: &[LocationId],
    sender: SwitchId,
    label: LabelId,
    moves: &mut Vec<Move>,
) {
    let own = sts.location(sts.switch(sender).source).process;
    let others = sts
        .participants(label)
        .iter()
        .filter(|process| **process != own);
    let mut groups = vec![vec![sender]];
    for process in others {
        let receivers = sts.outgoing(locations[process.index()]).iter();
        let receivers: Vec<SwitchId> = receivers
            .copied()
            .filter(|id| sts.switch(*id).gate == Gate::Receive(label))
            .collect();
        groups = groups
            .iter()
            .flat_map(|group| {
                receivers.iter().map(|receiver| {
                    group
                        .iter()
                        .copied()
                        .chain(std::iter::once(*receiver))
                        .collect()
                })
            })
            .collect();
    }
    for switches in groups.into_iter().filter(|group| group.len() > 1) {
        moves.push(Move {
            switches,
            label: Some(label),
            observable: false,
        });
    }
}
