//! Orders of the bits for decision diagrams. The order decides between milliseconds and never, so several are tried.

use rustc_hash::FxHashMap;

use crate::system::Circuit;

/// Positions of the bits of a circuit, first to last.
pub(crate) type Order = Vec<usize>;

/// As declared in the model.
pub(crate) fn declared(circuit: &Circuit) -> Order {
    (0..circuit.bits.len()).collect()
}

/// Bits that occur together in a condition are drawn together (the FORCE heuristic): every condition has a centre of
/// gravity, and every bit moves to the mean of the centres of its conditions. Repeated while the spans shrink.
pub(crate) fn force(circuit: &Circuit, start: &[usize]) -> Order {
    force_from(circuit, start).0
}

/// The best of several attempts that start from shuffled orders.
pub(crate) fn force_best(circuit: &Circuit, attempts: u64) -> Order {
    let mut best = force_from(circuit, &declared(circuit));
    for attempt in 1..attempts {
        let mut start = declared(circuit);
        let mut random = attempt;
        for at in (1..start.len()).rev() {
            random = crate::goal::next_random(random);
            start.swap(at, usize::try_from(random % (at as u64 + 1)).unwrap_or(0));
        }
        let found = force_from(circuit, &start);
        if found.1 < best.1 {
            best = found;
        }
    }
    best.0
}

/// The order and the sum of its spans.
fn force_from(circuit: &Circuit, start: &[usize]) -> (Order, f64) {
    let mut owner: FxHashMap<usize, usize> = FxHashMap::default();
    for (index, bit) in circuit.bits.iter().enumerate() {
        owner.insert(bit.current.gate(), index);
        owner.insert(bit.next.gate(), index);
    }
    let conditions = circuit
        .trans
        .iter()
        .map(|part| &part.lit)
        .chain(&circuit.invar)
        .chain(&circuit.init);
    let mut edges: Vec<Vec<usize>> = Vec::new();
    for lit in conditions {
        let mut members: Vec<usize> = circuit
            .aig
            .support(&[*lit])
            .iter()
            .filter_map(|gate| owner.get(gate).copied())
            .collect();
        members.sort_unstable();
        members.dedup();
        if members.len() > 1 {
            edges.push(members);
        }
    }
    // The bits of one variable belong together, strongly.
    for pair in 1..circuit.bits.len() {
        if circuit.bits[pair].var == circuit.bits[pair - 1].var {
            edges.push(vec![pair - 1, pair]);
        }
    }
    let count = circuit.bits.len();
    let mut position = vec![0.0_f64; count];
    for (place, bit) in start.iter().enumerate() {
        position[*bit] = place as f64;
    }
    let span = |position: &[f64]| -> f64 {
        edges
            .iter()
            .map(|edge| {
                let low = edge
                    .iter()
                    .map(|bit| position[*bit])
                    .fold(f64::INFINITY, f64::min);
                let high = edge
                    .iter()
                    .map(|bit| position[*bit])
                    .fold(f64::NEG_INFINITY, f64::max);
                high - low
            })
            .sum()
    };
    let mut best: Order = start.to_vec();
    let mut best_span = span(&position);
    for _ in 0..60 {
        let mut sum = vec![0.0; count];
        let mut weight = vec![0.0; count];
        for edge in &edges {
            let centre = edge.iter().map(|bit| position[*bit]).sum::<f64>() / edge.len() as f64;
            // A condition on everything says nothing about who belongs together.
            let strength = 1.0 / edge.len() as f64;
            for bit in edge {
                sum[*bit] += centre * strength;
                weight[*bit] += strength;
            }
        }
        let mut order: Order = (0..count).collect();
        let target: Vec<f64> = (0..count)
            .map(|bit| {
                if weight[bit] > 0.0 {
                    sum[bit] / weight[bit]
                } else {
                    position[bit]
                }
            })
            .collect();
        order.sort_by(|a, b| target[*a].total_cmp(&target[*b]).then(a.cmp(b)));
        for (place, bit) in order.iter().enumerate() {
            position[*bit] = place as f64;
        }
        let new_span = span(&position);
        if new_span < best_span {
            best_span = new_span;
            best = order;
        } else {
            break;
        }
    }
    (best, best_span)
}
