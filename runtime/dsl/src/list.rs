//! Several of something: lists of values, whose lengths are known when the graph is built.

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, LocalName, Value};

use crate::clients::{OnClients, mapped};
use crate::graph::Graph;
use crate::scalar_functions::Real;
use crate::tree::Tree;
use crate::wire::{Upload, Wire};
use crate::{
    ClientCx, Clients, Cohort, Count, Index, Params, Scalar, Server, ServerCx, StateAccess,
};

/// A list of `n` values: the closure gives each by its number, from 0.
///
/// The length is known when the graph is built, and the graph has the code once for each value.
#[track_caller]
pub fn list<T>(n: impl Count, of: impl FnMut(usize) -> T) -> Vec<T> {
    (0..n.into_index().count()).map(of).collect()
}

/// The place of the smallest of some numbers, from 0; of equal ones, the first.
#[track_caller]
pub fn argmin(numbers: &[Scalar]) -> Scalar {
    let loc = Loc::caller();
    let constant = |j: usize| Scalar::count(Index::from(j), loc);
    let select = |c: &Scalar, a: &Scalar, b: &Scalar| Scalar::op(ArithOp::Select, &[c, a, b], loc);
    let mut place = constant(0);
    let Some((first, rest)) = numbers.split_first() else {
        return place;
    };
    let mut least = first.clone();
    for (j, x) in rest.iter().enumerate() {
        let lower = Scalar::op(ArithOp::Sub, &[&least, x], loc);
        place = select(&lower, &constant(j + 1), &place);
        least = select(&lower, x, &least);
    }
    place
}

/// The parameters or the tensor at a place of a list, which is known when the round runs:
/// `pick(&models, &argmin(&losses))`. Before the list it is the first, behind it the last.
#[track_caller]
pub fn pick<T: Tree>(list: &[T], place: &Scalar) -> T {
    let loc = Loc::caller();
    let Some((first, rest)) = list.split_first() else {
        // A list that is empty has no graph: whatever reads its element reports that.
        return T::of(&Graph::default(), Value(u32::MAX));
    };
    let (graph, _) = first.parts(loc);
    graph.located(loc, || {
        let all = rest.iter().enumerate();
        all.fold(first.clone(), |before, (j, element)| {
            let from_here = place - (j as f64 + 0.5);
            from_here.choose(element, &before)
        })
    })
}

impl ServerCx {
    /// A state of the server for each of some values, which are its first values; see
    /// [`state_or`](Self::state_or).
    #[track_caller]
    pub fn states_or<T: Wire>(&self, name: &str, firsts: &[Server<T>]) -> Vec<Server<T>> {
        let loc = Loc::caller();
        let all = firsts.iter().enumerate();
        let states = all.map(|(j, first)| {
            self.graph.same(&first.graph, "states_or", loc);
            let name = LocalName::Element(name, j);
            Server::new(&self.graph, self.read_or(name, first.value, loc))
        });
        states.collect()
    }

    /// Keeps each value of a list; see [`set_state`](Self::set_state).
    #[track_caller]
    pub fn set_states<T: Wire>(&self, name: &str, values: &[Server<T>]) {
        let loc = Loc::caller();
        for (j, value) in values.iter().enumerate() {
            self.graph.same(&value.graph, "set_states", loc);
            self.write(LocalName::Element(name, j), value.value, loc);
        }
    }

    /// `w` and, after it, models with initial parameters of their own, `n` in all.
    #[track_caller]
    pub fn initial_models(&self, w: &Server<Params>, n: impl Count) -> Vec<Server<Params>> {
        let others = (1..n.into_index().count()).map(|j| self.initial_params(j));
        std::iter::once(w.clone()).chain(others).collect()
    }

    /// Sends all values of a list to every client of a cohort.
    #[track_caller]
    pub fn broadcast_all<T: Wire>(&self, values: &[Server<T>], cohort: &Cohort) -> ClientsList<T> {
        ClientsList(values.iter().map(|value| value.broadcast(cohort)).collect())
    }
}

/// A list of values on each client of a cohort; see [`ServerCx::broadcast_all`].
#[derive(Clone, Debug)]
pub struct ClientsList<T>(Vec<Clients<T>>);

impl<T: Wire> ClientsList<T> {
    /// Runs code on every client of the cohort, with the list. The closure is run once, to record its ops.
    #[track_caller]
    pub fn map<U: Upload>(&self, body: impl FnOnce(&ClientCx, Vec<T>) -> U) -> U::At<OnClients> {
        let loc = Loc::caller();
        let graph = self.0.first().map(|first| first.graph.clone());
        let graph = graph.unwrap_or_default();
        let operands: Vec<Value> = self.0.iter().map(|x| x.value_in(&graph, loc)).collect();
        let kinds = vec![T::KIND; operands.len()];
        let results = mapped(&graph, &operands, &kinds, loc, |k, values| {
            let each = values.iter().map(|value| T::bind(&graph, *value));
            body(k, each.collect())
        });
        U::bind_all::<OnClients>(&graph, &results)
    }
}
