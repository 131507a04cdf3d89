//! `batch-clients`: the graph of one client becomes the graph of K clients.
//!
//! A value that differs between clients gets a leading axis of size K. A value that all clients share,
//! such as a learning rate or the received model, stays as it is. The pass runs on whole training steps
//! after differentiation. An op without a batching rule runs once for each client on slices, and is
//! reported.

mod layers;
mod structure;

use fedround_ir::Loc;
use fedround_ir::tensor::{Family, Graph, GraphError, Node, Op, TensorType, TypeError, Val};

/// A graph over K clients.
#[derive(Clone, Debug)]
pub struct Batched {
    /// The graph. Its inputs and outputs are in the old order; all outputs have a client axis.
    pub graph: Graph,
    /// Ops that run once for each client.
    pub looped: Vec<Looped>,
}

/// An op that had no batching rule.
#[derive(Clone, Debug)]
pub struct Looped {
    /// The op.
    pub op: &'static str,
    /// The place in the algorithm that it comes from.
    pub loc: Loc,
}

/// Batches a graph over `clients`; `inputs` says which inputs have a value for each client.
///
/// # Errors
///
/// The graph is not well formed.
pub fn batch(graph: &Graph, clients: usize, inputs: &[bool]) -> Result<Batched, GraphError> {
    let mut this = Batch {
        new: Graph::default(),
        map: vec![None; graph.types.len()],
        clients,
        loc: Loc::caller(),
        looped: vec![],
    };
    for ((name, val), &each) in graph.inputs.iter().zip(inputs) {
        let mut ty = graph.type_of(*val).clone();
        if each {
            ty.shape.insert(0, clients);
        }
        let new = this.new.input(name.clone(), ty);
        this.map[val.0 as usize] = Some(Value { new, each });
    }
    for node in &graph.nodes {
        this.node(graph, node)?;
    }
    for (name, val) in &graph.outputs {
        let value = this.value("return", *val)?;
        let each = this.full_one(value)?;
        this.new.outputs.push((name.clone(), each));
    }
    this.new.verify()?;
    Ok(Batched {
        graph: this.new,
        looped: this.looped,
    })
}

/// How an op is batched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The op itself, on operands that broadcast along the client axis.
    Broadcast,
    /// The op itself, on other dimensions.
    Shifted,
    /// Clients become further rows, images or channel groups of one op.
    Merged,
    /// Once for each client.
    Loop,
}

/// The rule of an op.
pub fn rule(op: &Op) -> Rule {
    match (op, op.family()) {
        (Op::Random(..) | Op::LogSoftmax(_), _) | (_, Family::Structure) => Rule::Shifted,
        (_, Family::Source | Family::Elementwise) => Rule::Broadcast,
        (_, Family::Layer) => Rule::Merged,
        // Made on batched graphs.
        (_, Family::Fused) => Rule::Loop,
    }
}

/// A value of the new graph, and whether each client has its own.
#[derive(Clone, Copy)]
struct Value {
    new: Val,
    each: bool,
}

struct Batch {
    new: Graph,
    map: Vec<Option<Value>>,
    clients: usize,
    loc: Loc,
    looped: Vec<Looped>,
}

/// New values of a node's results, each with a client axis.
type Results = Result<Vec<Val>, TypeError>;

impl Batch {
    fn value(&self, op: &'static str, val: Val) -> Result<Value, GraphError> {
        self.map[val.0 as usize].ok_or(GraphError::Undefined { op, val })
    }

    fn node(&mut self, old: &Graph, node: &Node) -> Result<(), GraphError> {
        self.loc = node.loc;
        let ins: Vec<Value> = node
            .ins
            .iter()
            .map(|&v| self.value(node.op.name(), v))
            .collect::<Result<_, _>>()?;
        let each = ins.iter().any(|v| v.each) || matches!(node.op, Op::Random(..));
        let outs = if each {
            self.batched(&node.op, &ins, old.type_of(node.outs[0]))?
        } else {
            let ins: Vec<Val> = ins.iter().map(|v| v.new).collect();
            self.new.push_multi(node.op.clone(), &ins, node.loc)?
        };
        for (from, new) in node.outs.iter().zip(outs) {
            self.map[from.0 as usize] = Some(Value { new, each });
        }
        Ok(())
    }

    fn batched(&mut self, op: &Op, ins: &[Value], result: &TensorType) -> Results {
        match rule(op) {
            // Both want operands of equal shapes.
            Rule::Broadcast if matches!(op, Op::And | Op::Or | Op::ReluGrad) => {
                let ins = self.full(ins)?;
                self.op(op.clone(), &ins)
            }
            Rule::Broadcast => {
                let ins: Vec<Val> = ins
                    .iter()
                    .map(|v| self.lift(*v))
                    .collect::<Result<_, _>>()?;
                self.op(op.clone(), &ins)
            }
            Rule::Shifted => structure::batch(self, op, ins, result),
            Rule::Merged => layers::batch(self, op, ins),
            Rule::Loop => self.each_client(op, ins),
        }
    }

    fn op(&mut self, op: Op, ins: &[Val]) -> Results {
        self.new.push_multi(op, ins, self.loc)
    }

    fn push(&mut self, op: Op, ins: &[Val]) -> Result<Val, TypeError> {
        self.new.push(op, ins, self.loc)
    }

    fn reshape(&mut self, v: Val, shape: Vec<usize>) -> Result<Val, TypeError> {
        self.push(Op::Reshape(shape), &[v])
    }

    /// The shape that one client sees.
    fn shape(&self, v: Value) -> Vec<usize> {
        self.new.shape(v.new)[usize::from(v.each)..].to_vec()
    }

    /// With a client axis, of size 1 where the value is shared.
    fn lift(&mut self, v: Value) -> Result<Val, TypeError> {
        if v.each {
            return Ok(v.new);
        }
        let mut shape = self.shape(v);
        shape.insert(0, 1);
        self.reshape(v.new, shape)
    }

    /// With a client axis of size K.
    fn full_one(&mut self, v: Value) -> Result<Val, TypeError> {
        let lifted = self.lift(v)?;
        let mut shape = self.shape(v);
        shape.insert(0, self.clients);
        self.push(Op::Expand(shape), &[lifted])
    }

    fn full(&mut self, ins: &[Value]) -> Results {
        ins.iter().map(|v| self.full_one(*v)).collect()
    }

    /// The op on each client's slices, joined.
    fn each_client(&mut self, op: &Op, ins: &[Value]) -> Results {
        self.looped.push(Looped {
            op: op.name(),
            loc: self.loc,
        });
        let mut columns: Vec<Vec<Val>> = vec![];
        for k in 0..self.clients {
            let mut own = Vec::with_capacity(ins.len());
            for v in ins {
                own.push(self.slice(*v, k)?);
            }
            for (i, out) in self.op(op.clone(), &own)?.into_iter().enumerate() {
                let lifted = self.lift(Value {
                    new: out,
                    each: false,
                })?;
                match columns.get_mut(i) {
                    Some(column) => column.push(lifted),
                    None => columns.push(vec![lifted]),
                }
            }
        }
        columns
            .iter()
            .map(|column| self.push(Op::Cat(0), column))
            .collect()
    }

    /// One client's own value.
    fn slice(&mut self, v: Value, k: usize) -> Result<Val, TypeError> {
        if !v.each {
            return Ok(v.new);
        }
        let shape = self.shape(v);
        let mut ranges = vec![(k, k + 1)];
        ranges.extend(shape.iter().map(|&n| (0, n)));
        let slice = self.push(Op::Slice(ranges), &[v.new])?;
        self.reshape(slice, shape)
    }
}
