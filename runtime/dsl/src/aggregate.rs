//! Aggregates that need the values of all clients at once: medians, trimmed means, and distances of each
//! pair of values.

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Pairwise, Reduce};

use crate::wire::Wire;
use crate::{Clients, Gathered, Params, Rate, Scalar, Server, Tensor};

/// Values whose entries have an order: all but labels.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no median",
    label = "expected parameters, numbers or features"
)]
pub trait Ordered: Wire {}
impl Ordered for Params {}
impl Ordered for Scalar {}
impl Ordered for Tensor {}
impl Ordered for crate::Released<Tensor> {}

/// Values between which there are distances: parameters and features.
#[diagnostic::on_unimplemented(
    message = "there are no distances between values of type `{Self}`",
    label = "expected parameters or features"
)]
pub trait Vector: Wire {}
impl Vector for Params {}
impl Vector for Tensor {}
impl Vector for crate::Released<Tensor> {}

/// What [`Gathered::split`] gives each client: a number, or a tensor.
#[diagnostic::on_unimplemented(
    message = "a row of a tensor is no `{Self}`",
    label = "expected `Scalar` or `Tensor`"
)]
pub trait OneRow: Wire {}
impl OneRow for Scalar {}
impl OneRow for Tensor {}

impl<T: Ordered> Gathered<T> {
    /// The median of each entry; of an even number of clients, the mean of the middle two. An entry is
    /// NaN where a client's value is not finite.
    #[track_caller]
    pub fn median(&self) -> Server<T> {
        let op = FedOp::Reduce(Reduce::Median);
        Server::of_op(&self.graph, op, &[self.value], Loc::caller())
    }

    /// The mean of each entry over the `m` clients, without its `⌊β m⌋` smallest and `⌊β m⌋` largest
    /// values. A run stops with an error unless `0 ≤ β < ½`. An entry is NaN where a client's value is
    /// not finite.
    #[track_caller]
    pub fn trimmed_mean(&self, beta: impl Rate) -> Server<T> {
        let loc = Loc::caller();
        let operands = [self.value, beta.rate(loc).value_in(&self.graph, loc)];
        Server::of_op(
            &self.graph,
            FedOp::Reduce(Reduce::TrimmedMean),
            &operands,
            loc,
        )
    }
}

impl<T: Ordered> Clients<T> {
    /// The [median](Gathered::median) of each entry. Every client's value is gathered for it: the server
    /// sees and holds all of them.
    #[track_caller]
    pub fn median(&self) -> Server<T> {
        self.gather().median()
    }

    /// The [trimmed mean](Gathered::trimmed_mean) of each entry. Every client's value is gathered for
    /// it: the server sees and holds all of them.
    #[track_caller]
    pub fn trimmed_mean(&self, beta: impl Rate) -> Server<T> {
        self.gather().trimmed_mean(beta)
    }
}

impl<T: Vector> Gathered<T> {
    /// `‖x_i − x_j‖²` of each pair of the `m` clients, `[m, m]`, in the order of the cohort. Running
    /// statistics of parameters count, unlike in `sq_norm`.
    #[track_caller]
    pub fn sq_distances(&self) -> Server<Tensor> {
        self.pairwise(Pairwise::SqDistances, Loc::caller())
    }

    /// `⟨x_i, x_j⟩ / (‖x_i‖ ‖x_j‖)` of each pair of the `m` clients, `[m, m]`, in the order of the
    /// cohort; 0 where a norm is 0.
    #[track_caller]
    pub fn cosines(&self) -> Server<Tensor> {
        self.pairwise(Pairwise::Cosines, Loc::caller())
    }

    fn pairwise(&self, of: Pairwise, loc: Loc) -> Server<Tensor> {
        Server::of_op(&self.graph, FedOp::Pairwise(of), &[self.value], loc)
    }
}

impl Gathered<Scalar> {
    /// The numbers of all `m` clients as a tensor `[m]`, in the order of the cohort.
    #[track_caller]
    pub fn stack(&self) -> Server<Tensor> {
        Server::of_op(&self.graph, FedOp::Concat, &[self.value], Loc::caller())
    }
}

impl<T: Wire> Gathered<T> {
    /// The rows of a tensor, to each client the one at its position in the cohort: a number of `[m]`, or
    /// a tensor of the remaining shape. It undoes [`stack`](Gathered::stack). A run stops with an error if the tensor has not as many rows as the cohort has
    /// clients.
    #[track_caller]
    pub fn split<U: OneRow>(&self, rows: &Server<Tensor>) -> Gathered<U> {
        let loc = Loc::caller();
        self.graph.same(&rows.graph, "split", loc);
        let operands = [rows.value, self.value];
        Gathered::of_op(&self.graph, FedOp::Split(U::KIND), &operands, loc)
    }
}
