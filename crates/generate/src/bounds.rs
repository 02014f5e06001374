//! Upper bounds on the size of a complete suite (seed 004, Theorems 1-3), before anything is
//! generated.

use ioco_sts::{Sts, Type, Types};

/// The bounds as powers of ten, because the numbers themselves soon fit no integer. Infinite where
/// a variable's domain is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Theorem 1: |T|^n, every switch a loop at one location, data left out.
    pub switches: f64,
    /// Theorem 2: (|T| · ∏|D|)^n, with every variable set anew at every step.
    pub switches_and_data: f64,
    /// Theorem 3: (deg · ∏|D|)^n, with the largest number of switches that leave one location.
    pub degree_and_data: f64,
    /// Theorem 3 without data: deg^n.
    pub degree: f64,
}

/// The bounds for traces of `length` observable steps, as decimal logarithms.
pub fn bounds(sts: &Sts, length: u32) -> Bounds {
    let log = |count: usize| (count.max(1) as f64).log10();
    let data: f64 = sts
        .variables()
        .iter()
        .map(|v| domain_size(&v.ty, sts.types()).log10())
        .sum();
    let degree = (0..sts.locations().len())
        .map(|index| sts.outgoing(ioco_sts::LocationId::from_index(index)).len())
        .max()
        .unwrap_or(0);
    if length == 0 {
        // One trace, the empty one, however large the data.
        return Bounds {
            switches: 0.0,
            switches_and_data: 0.0,
            degree_and_data: 0.0,
            degree: 0.0,
        };
    }
    let steps = f64::from(length);
    Bounds {
        switches: steps * log(sts.switches().len()),
        switches_and_data: steps * (log(sts.switches().len()) + data),
        degree_and_data: steps * (log(degree) + data),
        degree: steps * log(degree),
    }
}

fn domain_size(ty: &Type, types: &Types) -> f64 {
    match ty {
        Type::Bool => 2.0,
        Type::Int(range) => range.max as f64 - range.min as f64 + 1.0,
        Type::Date | Type::Time => i64::MAX as f64,
        Type::Enum(id) => types.enums[id.index()].members.len() as f64,
        Type::Struct(id) => types.structs[id.index()]
            .fields
            .iter()
            .map(|(_, ty)| domain_size(ty, types))
            .product(),
        Type::Decimal | Type::Str | Type::Array(_) => f64::INFINITY,
    }
}

/// `about 10^12`, or the number itself where it is small.
pub fn show(log10: f64) -> String {
    if log10.is_infinite() {
        "without bound".to_owned()
    } else if log10 < 6.0 {
        format!("{:.0}", 10f64.powf(log10))
    } else {
        format!("about 10^{log10:.1}")
    }
}
