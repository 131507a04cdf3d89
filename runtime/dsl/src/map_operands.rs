//! Values of each client of a cohort, one or several side by side, as the operands of a map.

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Value};

use crate::graph::Graph;

/// One or several values of each client of a cohort.
pub trait MapOperands: Clone {
    /// What the closure of a map is given: a value, or a pair.
    type Item;
    #[doc(hidden)]
    fn graph(&self) -> &Graph;
    /// The operands of a map over them.
    #[doc(hidden)]
    fn operands(&self, graph: &Graph, loc: Loc) -> Vec<(Value, Kind)>;
    /// What a map's region is given.
    #[doc(hidden)]
    fn bind(graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self::Item;
}

/// Implements [`MapOperands`] for a pair.
macro_rules! each_of_two {
    ($zipped:ident) => {
        impl<A: $crate::map_operands::MapOperands, B: $crate::map_operands::MapOperands>
            $crate::map_operands::MapOperands for $zipped<A, B>
        {
            type Item = (A::Item, B::Item);
            fn graph(&self) -> &Graph {
                self.0.graph()
            }
            fn operands(&self, graph: &Graph, loc: Loc) -> Vec<(Value, Kind)> {
                let mut all = self.0.operands(graph, loc);
                all.extend(self.1.operands(graph, loc));
                all
            }
            fn bind(graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self::Item {
                let first = A::bind(graph, values);
                (first, B::bind(graph, values))
            }
        }
    };
}
pub(crate) use each_of_two;
