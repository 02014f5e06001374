//! Indices into a model, as newtypes so that a location is never taken for a switch.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of position `index`; models never come near four billion of anything.
            pub fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("fewer than 2^32 items in a model"))
            }
        }
    )*};
}

ids! {
    /// An enumeration type of the model.
    EnumId,
    /// A structure type of the model.
    StructId,
    /// A named function of the model.
    FunctionId,
    /// A stimulus, response or internal hand-shake of the model.
    LabelId,
    /// A process of the model.
    ProcessId,
    /// A location; numbered over all processes.
    LocationId,
    /// A switch; numbered over all processes, in the order of the model text.
    SwitchId,
    /// A variable; numbered over all processes.
    VarId,
    /// A state set that a [`crate::Semantics`] has seen.
    SetId,
}
