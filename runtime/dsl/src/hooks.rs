//! Calls of hooks: `self.hook(..)` and `self.base.hook(..)` after `#[federated]`.
//!
//! Written out rather than generated: a wrong argument is then reported at the user's call and
//! at a plain function, without a macro in between.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Hook, Value};

use crate::wire::Wire;
use crate::{
    Batch, ClientCx, Clients, Keeper, Labels, Params, Scalar, Server, ServerCx, ServerSide, Tensor,
};

/// `fed.call` or `fed.super`.
type Symbol = fn(Hook) -> FedOp;

fn round(symbol: Symbol, server: &ServerCx, w: &Server<Params>, loc: Loc) -> Server<Params> {
    let graph = &server.graph;
    graph.same(&w.graph, "round", loc);
    Server::new(graph, graph.op(symbol(Hook::Round), &[w.value], loc))
}

fn aggregate(symbol: Symbol, server: &ServerCx, w_k: &Clients<Params>, loc: Loc) -> Server<Params> {
    let graph = &server.graph;
    let operand = w_k.value_in(graph, loc);
    Server::new(graph, graph.op(symbol(Hook::Aggregate), &[operand], loc))
}

fn on_client(op: FedOp, k: &ClientCx, w: &Params, b: Option<&Batch>, loc: Loc) -> Value {
    let mut operands = vec![k.value, w.value_in(&k.graph, loc)];
    operands.extend(b.map(|b| b.value));
    k.graph.op(op, &operands, loc)
}

fn params(op: FedOp, k: &ClientCx, w: &Params, b: Option<&Batch>, loc: Loc) -> Params {
    Params::bind(&k.graph, on_client(op, k, w, b, loc))
}

fn scalar(op: FedOp, k: &ClientCx, w: &Params, b: Option<&Batch>, loc: Loc) -> Scalar {
    Scalar::bind(&k.graph, on_client(op, k, w, b, loc))
}

fn server_gradient(
    symbol: Symbol,
    s: &ServerSide,
    (w, x, y): (&Params, &Tensor, &Labels),
    loc: Loc,
) -> Params {
    let graph = s.graph();
    let rows = [x.value_in(graph, loc), y.value_in(graph, loc)];
    let operands = [w.value_in(graph, loc), rows[0], rows[1]];
    Params::bind(
        graph,
        graph.op(symbol(Hook::ServerGradient), &operands, loc),
    )
}

/// Calls of a hook's outermost definition, whichever layer it is in.
pub mod call {
    use fedround_ir::Loc;
    use fedround_ir::fed::{FedOp, Hook};

    use crate::{
        Batch, ClientCx, Clients, Labels, Params, Scalar, Server, ServerCx, ServerSide, Tensor,
    };

    /// Stages the server's loop body.
    #[track_caller]
    pub fn round(server: &ServerCx, w: Server<Params>) -> Server<Params> {
        super::round(FedOp::Call, server, &w, Loc::caller())
    }

    /// Stages local training.
    #[track_caller]
    pub fn client_update(k: &ClientCx, w: Params) -> Params {
        super::params(FedOp::Call(Hook::ClientUpdate), k, &w, None, Loc::caller())
    }

    /// Stages the aggregation of what clients trained.
    #[track_caller]
    pub fn aggregate(server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        super::aggregate(FedOp::Call, server, &w_k, Loc::caller())
    }

    /// Stages the direction that a step descends.
    #[track_caller]
    pub fn gradient(k: &ClientCx, w: &Params, b: &Batch) -> Params {
        super::params(FedOp::Call(Hook::Gradient), k, w, Some(b), Loc::caller())
    }

    /// Stages the loss on a batch.
    #[track_caller]
    pub fn loss(k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        super::scalar(FedOp::Call(Hook::Loss), k, w, Some(b), Loc::caller())
    }

    /// Stages what is added to the loss.
    #[track_caller]
    pub fn regularizer(k: &ClientCx, w: &Params) -> Scalar {
        super::scalar(FedOp::Call(Hook::Regularizer), k, w, None, Loc::caller())
    }

    /// Stages the model that a client uses.
    #[track_caller]
    pub fn personalize(k: &ClientCx, w: Params) -> Params {
        super::params(FedOp::Call(Hook::Personalize), k, &w, None, Loc::caller())
    }

    /// Stages the direction that a step of the server's descends.
    #[track_caller]
    pub fn server_gradient(s: &ServerSide, w: &Params, x: &Tensor, y: &Labels) -> Params {
        super::server_gradient(FedOp::Call, s, (w, x, y), Loc::caller())
    }
}

/// Calls of the next inner definition of a hook.
pub mod base {
    use fedround_ir::Loc;
    use fedround_ir::fed::{FedOp, Hook};

    use crate::{
        Batch, ClientCx, Clients, Labels, Params, Scalar, Server, ServerCx, ServerSide, Tensor,
    };

    /// Stages the server's loop body.
    #[track_caller]
    pub fn round(server: &ServerCx, w: Server<Params>) -> Server<Params> {
        super::round(FedOp::Super, server, &w, Loc::caller())
    }

    /// Stages local training.
    #[track_caller]
    pub fn client_update(k: &ClientCx, w: Params) -> Params {
        super::params(FedOp::Super(Hook::ClientUpdate), k, &w, None, Loc::caller())
    }

    /// Stages the aggregation of what clients trained.
    #[track_caller]
    pub fn aggregate(server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        super::aggregate(FedOp::Super, server, &w_k, Loc::caller())
    }

    /// Stages the direction that a step descends.
    #[track_caller]
    pub fn gradient(k: &ClientCx, w: &Params, b: &Batch) -> Params {
        super::params(FedOp::Super(Hook::Gradient), k, w, Some(b), Loc::caller())
    }

    /// Stages the loss on a batch.
    #[track_caller]
    pub fn loss(k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        super::scalar(FedOp::Super(Hook::Loss), k, w, Some(b), Loc::caller())
    }

    /// Stages what is added to the loss.
    #[track_caller]
    pub fn regularizer(k: &ClientCx, w: &Params) -> Scalar {
        super::scalar(FedOp::Super(Hook::Regularizer), k, w, None, Loc::caller())
    }

    /// Stages the model that a client uses.
    #[track_caller]
    pub fn personalize(k: &ClientCx, w: Params) -> Params {
        super::params(FedOp::Super(Hook::Personalize), k, &w, None, Loc::caller())
    }

    /// Stages the direction that a step of the server's descends.
    #[track_caller]
    pub fn server_gradient(s: &ServerSide, w: &Params, x: &Tensor, y: &Labels) -> Params {
        super::server_gradient(FedOp::Super, s, (w, x, y), Loc::caller())
    }
}
