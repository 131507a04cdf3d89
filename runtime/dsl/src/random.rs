//! Random numbers in an algorithm, from streams with names.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, NameUse, Value};

use crate::graph::Graph;
use crate::rate::Rate;
use crate::wire::Wire;
use crate::{ClientCx, Count, Labels, Real, Scalar, Server, ServerCx};

/// A random stream of a name, in a client's code or in code with plain values on the server.
///
/// Each call draws anew. What is drawn depends on the seed, the round, the name (which is this algorithm's
/// own), who draws, and how often they drew from this name in the same code: draws of other names, and of
/// whatever else is random, stay as they are.
#[derive(Clone, Debug)]
pub struct Stream {
    graph: Graph,
    name: String,
    client: Option<Value>,
}

/// A random stream of the server; see [`Stream`].
#[derive(Clone, Debug)]
pub struct ServerStream(Stream);

impl ClientCx {
    /// A random stream of a name: `k.stream("take part").bernoulli(0.3)`.
    #[track_caller]
    pub fn stream(&self, name: &str) -> Stream {
        Stream::new(&self.graph, name, Some(self.value), Loc::caller())
    }
}

impl ServerCx {
    /// A random stream of a name; see [`ClientCx::stream`].
    #[track_caller]
    pub fn stream(&self, name: &str) -> ServerStream {
        ServerStream(Stream::new(&self.graph, name, None, Loc::caller()))
    }
}

impl Stream {
    pub(crate) fn new(graph: &Graph, name: &str, client: Option<Value>, loc: Loc) -> Self {
        Self {
            graph: graph.clone(),
            name: graph.qualified(NameUse::Stream, name.into(), loc),
            client,
        }
    }

    /// A number in `[0, 1)`.
    #[track_caller]
    pub fn uniform(&self) -> Scalar {
        let op = FedOp::Uniform(self.name.clone());
        Scalar::of_op(&self.graph, op, self.client.as_slice(), Loc::caller())
    }

    /// A standard normal number.
    #[track_caller]
    pub fn normal(&self) -> Scalar {
        let op = FedOp::Normal(self.name.clone());
        Scalar::of_op(&self.graph, op, self.client.as_slice(), Loc::caller())
    }

    /// 1 with probability `p`, else 0.
    #[track_caller]
    pub fn bernoulli(&self, p: impl Rate) -> Scalar {
        let loc = Loc::caller();
        let below = self.graph.located(loc, || p.rate(loc) - self.uniform());
        self.graph.located(loc, || below.select(1.0, 0.0))
    }

    /// The numbers from 0 to `n − 1` in a random order: `[n]`.
    #[track_caller]
    pub fn permutation(&self, n: impl Count) -> Labels {
        let loc = Loc::caller();
        let n = n.into_index().value_in(&self.graph);
        let operands: Vec<Value> = std::iter::once(n).chain(self.client).collect();
        let op = FedOp::Permutation(self.name.clone());
        Labels::of_op(&self.graph, op, &operands, loc)
    }
}

impl ServerStream {
    fn at_server<T: Wire>(&self, value: &T, loc: Loc) -> Server<T> {
        Server::new(&self.0.graph, value.value_in(&self.0.graph, loc))
    }

    /// A number in `[0, 1)`.
    #[track_caller]
    pub fn uniform(&self) -> Server<Scalar> {
        self.at_server(&self.0.uniform(), Loc::caller())
    }

    /// A standard normal number.
    #[track_caller]
    pub fn normal(&self) -> Server<Scalar> {
        self.at_server(&self.0.normal(), Loc::caller())
    }

    /// 1 with probability `p`, else 0.
    #[track_caller]
    pub fn bernoulli(&self, p: impl Rate) -> Server<Scalar> {
        self.at_server(&self.0.bernoulli(p), Loc::caller())
    }

    /// The numbers from 0 to `n − 1` in a random order: `[n]`.
    #[track_caller]
    pub fn permutation(&self, n: impl Count) -> Server<Labels> {
        self.at_server(&self.0.permutation(n), Loc::caller())
    }
}
