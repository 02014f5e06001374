//! Strongly connected components of a graph (Tarjan 1972), without recursion.

/// The component of every node. `targets` are the nodes that each node leads to; an edge leads to a
/// component of the same or of a smaller number.
pub(crate) fn components(targets: &[Vec<usize>]) -> Vec<u32> {
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; targets.len()];
    let mut low = vec![0; targets.len()];
    let mut component = vec![u32::MAX; targets.len()];
    let mut stack: Vec<usize> = Vec::new();
    let mut visited = 0;
    let mut count = 0;
    for start in 0..targets.len() {
        if order[start] != NEW {
            continue;
        }
        // A node, and how many of its edges need no other look.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, position)) = path.pop() {
            if order[node] == NEW {
                order[node] = visited;
                low[node] = visited;
                visited += 1;
                stack.push(node);
            }
            let mut below = None;
            for (at, target) in targets[node].iter().enumerate().skip(position) {
                if order[*target] == NEW {
                    below = Some((at, *target));
                    break;
                }
                if component[*target] == u32::MAX {
                    low[node] = low[node].min(low[*target]);
                }
            }
            if let Some((at, target)) = below {
                // On the way back the edge is looked at again, for what was found behind it.
                path.push((node, at));
                path.push((target, 0));
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = stack.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
}

/// Per node, whether edges lead from it back to itself.
pub(crate) fn on_cycles(targets: &[Vec<usize>]) -> Vec<bool> {
    let component = components(targets);
    let mut sizes = vec![0_u32; targets.len()];
    for number in &component {
        sizes[*number as usize] += 1;
    }
    (0..targets.len())
        .map(|node| sizes[component[node] as usize] > 1 || targets[node].contains(&node))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks from every node: slow and obvious.
    fn returns(targets: &[Vec<usize>], start: usize) -> bool {
        let mut seen = vec![false; targets.len()];
        let mut open = targets[start].clone();
        while let Some(node) = open.pop() {
            if node == start {
                return true;
            }
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(&targets[node]);
            }
        }
        false
    }

    #[test]
    fn cycles_are_those_that_walks_find() {
        // Graphs of seven nodes in which one of eight edges is there, from a fixed sequence.
        let mut number = 1_u64;
        for _ in 0..2_000 {
            let mut targets = vec![Vec::new(); 7];
            for leaving in &mut targets {
                for target in 0..7 {
                    number = number
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    if number >> 61 == 0 {
                        leaving.push(target);
                    }
                }
            }
            let slow: Vec<bool> = (0..7).map(|node| returns(&targets, node)).collect();
            assert_eq!(on_cycles(&targets), slow, "{targets:?}");
            let component = components(&targets);
            for (node, leaving) in targets.iter().enumerate() {
                assert!(leaving.iter().all(|t| component[*t] <= component[node]));
            }
        }
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let targets: Vec<Vec<usize>> = (0..100_000).map(|n| vec![(n + 1) % 100_000]).collect();
        assert!(on_cycles(&targets).into_iter().all(|on_cycle| on_cycle));
    }
}
