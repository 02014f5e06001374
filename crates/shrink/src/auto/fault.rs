//! The model with one link that leads elsewhere: a system that is wrong in one place.

use ioco_sts::{Action, Execution, Observed, Step};

use super::candidate::is_alike;
use super::routes::{NodeId, Routes};
use crate::leave_one_out::MAX_ANSWERS;

/// What a system does with a stimulus that the model does not offer in the state that the system is really in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UnseenLabels {
    /// Nothing.
    Ignored,
    /// What it does with the stimulus that takes its place there: flat models have a label of its own for
    /// each state, where the system knows one.
    Alike,
}

/// One link of the model that the system does not have as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fault {
    pub node: NodeId,
    pub link: usize,
    /// Where the link leads instead; `None` where the system says something that the model does not say there.
    pub wrong: Option<NodeId>,
    pub unseen: UnseenLabels,
}

/// How the answer to a stimulus ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As the model wants.
    Expected,
    /// With a response that the model does not allow, the last one here. More may have come.
    Deviates,
    /// With a text that the model has no label for; it is not among the responses.
    Unknown,
    /// Where the model wants more.
    Silent,
}

/// What was answered to one stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub responses: Vec<Action>,
    pub ending: Ending,
}

/// What a run showed, stimulus by stimulus.
#[derive(Clone, Debug)]
pub(super) struct ObservedRun {
    pub stimuli: Vec<Action>,
    pub replies: Vec<Reply>,
    /// The node of the model before each stimulus.
    pub nodes: Vec<NodeId>,
}

/// What a system with a fault does after a stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub responses: Vec<Action>,
    /// `None` once it has said something that the model does not know.
    pub target: Option<NodeId>,
    pub uses_fault: bool,
}

impl Effect {
    /// Whether this is what was seen.
    pub fn agrees(&self, reply: &Reply) -> bool {
        match (self.target, reply.ending) {
            (None, Ending::Unknown) => self.responses == reply.responses,
            (None, Ending::Deviates) => reply
                .responses
                .split_last()
                .is_some_and(|(_, before)| self.responses == before),
            (None, _) | (_, Ending::Unknown) => false,
            (Some(_), Ending::Expected | Ending::Silent) => self.responses == reply.responses,
            (Some(_), Ending::Deviates) => self.responses.starts_with(&reply.responses),
        }
    }
}

impl ObservedRun {
    /// `None` when the model does not have one answer to each stimulus, or when a run shows more than answers.
    pub fn of(execution: &Execution, routes: &Routes) -> Option<ObservedRun> {
        let mut shown = ObservedRun {
            stimuli: Vec::new(),
            replies: Vec::new(),
            nodes: Vec::new(),
        };
        for step in &execution.trace {
            match step {
                Step::Stimulus(action) => {
                    shown.stimuli.push(action.clone());
                    shown.replies.push(Reply {
                        responses: Vec::new(),
                        ending: Ending::Expected,
                    });
                }
                Step::Response(action) => shown.replies.last_mut()?.responses.push(action.clone()),
                Step::Quiescence => {}
            }
        }
        let mut node = NodeId(0);
        let deviation = execution.deviation();
        for (index, stimulus) in shown.stimuli.iter().enumerate() {
            let expected = give(routes, None, &[], node, node, stimulus)?;
            shown.nodes.push(node);
            node = expected.target?;
            let is_last = index + 1 == shown.stimuli.len();
            if !(is_last && deviation.is_some())
                && expected.responses != shown.replies[index].responses
            {
                return None;
            }
        }
        if let Some(deviation) = deviation {
            let last = shown.replies.last_mut()?;
            last.ending = match &deviation.observed {
                Observed::Response(action) => {
                    last.responses.push(action.clone());
                    Ending::Deviates
                }
                Observed::Unknown(_) => Ending::Unknown,
                Observed::Silence(_) => Ending::Silent,
                Observed::End(_) => return None,
            };
        }
        Some(shown)
    }
}

/// What the system does with a stimulus in the node `actual`, where the model is in `model`. `None` when it may
/// send for ever.
pub(super) fn give(
    routes: &Routes,
    fault: Option<&Fault>,
    families: &[u32],
    model: NodeId,
    actual: NodeId,
    stimulus: &Action,
) -> Option<Effect> {
    let link = routes.stimulus_link(actual, stimulus).or_else(|| {
        let unseen = fault.map_or(UnseenLabels::Ignored, |fault| fault.unseen);
        match unseen {
            UnseenLabels::Ignored => None,
            UnseenLabels::Alike => {
                let mut there = routes.stimuli(actual);
                let alike = there
                    .find(|other| is_alike(routes, families, (stimulus, model), (other, actual)));
                alike.and_then(|alike| routes.stimulus_link(actual, alike))
            }
        }
    });
    let Some(link) = link else {
        return Some(Effect {
            responses: Vec::new(),
            target: Some(actual),
            uses_fault: false,
        });
    };
    let mut effect = Effect {
        responses: Vec::new(),
        target: Some(actual),
        uses_fault: false,
    };
    take(routes, fault, &mut effect, link);
    settle(routes, fault, &mut effect)?;
    Some(effect)
}

/// Takes a link from where the effect has come to.
pub(super) fn take(routes: &Routes, fault: Option<&Fault>, effect: &mut Effect, link: usize) {
    let Some(node) = effect.target else {
        return;
    };
    let faulty = fault.filter(|fault| (fault.node, fault.link) == (node, link));
    effect.uses_fault |= faulty.is_some();
    if let Some(Step::Response(action)) = routes.step(node, link)
        && faulty.is_none_or(|fault| fault.wrong.is_some())
    {
        effect.responses.push(action.clone());
    }
    effect.target = match faulty {
        Some(fault) => fault.wrong,
        None => Some(routes.target(node, link)),
    };
}

/// Responses until the system is silent; `None` when that may take for ever.
pub(super) fn settle(routes: &Routes, fault: Option<&Fault>, effect: &mut Effect) -> Option<()> {
    let mut followed = 0;
    while let Some(node) = effect.target
        && let Some(link) = routes.answer_link(node)
    {
        take(routes, fault, effect, link);
        followed += 1;
        if followed > MAX_ANSWERS {
            return None;
        }
    }
    Some(())
}
