//! An optimizer with its state.

use std::marker::PhantomData;

use fedround_ir::Loc;
use fedround_ir::fed::{LocalName, TreeOp, Value};

use super::Optimizer;
use crate::contexts::StateAccess;
use crate::graph::Graph;
use crate::loop_state::LoopState;
use crate::rate::Rate;
use crate::tree::{Tree, recast};
use crate::{Params, Scalar};

/// An optimizer with its state, for parameters of type `T`: [`Params`] on a client, or
/// `Server<Params>`. A loop that assigns it carries the whole state.
#[derive(Clone, Debug)]
pub struct Running<O: Optimizer, T = Params> {
    rule: O,
    state: O::State,
    tree: PhantomData<T>,
}

impl<O: Optimizer, T: Tree> Running<O, T> {
    pub(super) fn new(rule: &O, state: O::State) -> Self {
        Self {
            rule: rule.clone(),
            state,
            tree: PhantomData,
        }
    }

    /// `w ← w − η d` with the optimizer's step size.
    #[track_caller]
    pub fn step(&mut self, w: &mut T, g: T) {
        self.stepped(self.rule.lr(), w, &g, Loc::caller());
    }

    /// `w ← w − η d` with a step size for this step alone, such as one that depends on the step.
    #[track_caller]
    pub fn step_at(&mut self, lr: impl Rate, w: &mut T, g: T) {
        let loc = Loc::caller();
        self.stepped(lr.rate(loc), w, &g, loc);
    }

    fn stepped(&mut self, lr: Scalar, w: &mut T, g: &T, loc: Loc) {
        let d = self.direction(w, g, loc);
        *w = w.binary(TreeOp::Sub, &d.scaled_by(&lr, loc), loc);
    }

    pub(super) fn direction(&mut self, w: &T, g: &T, loc: Loc) -> T {
        let (w, g): (Params, Params) = (recast(w, loc), recast(g, loc));
        let rule = || self.rule.direction(&mut self.state, &w, &g);
        recast(&w.graph.located(loc, rule), loc)
    }

    /// Keeps the state for the rounds that follow, under a name that is this algorithm's own.
    #[track_caller]
    pub fn keep<K: StateAccess<Params = T>>(&self, keeper: &K, name: &str) {
        let loc = Loc::caller();
        let values = self.state.values(keeper.graph(), loc);
        for (i, value) in values.into_iter().enumerate() {
            keeper.write(part::<O>(name, i), value, loc);
        }
    }

    /// The state that was kept under a name.
    #[track_caller]
    pub(super) fn read<K: StateAccess<Params = T>>(self, keeper: &K, name: &str) -> Self {
        let (loc, graph) = (Loc::caller(), keeper.graph());
        let zeros = self.state.values(graph, loc);
        let kinds = graph.types(&zeros).into_iter().map(|ty| ty.kind);
        let kept: Vec<Value> = kinds
            .enumerate()
            .map(|(i, kind)| keeper.read(part::<O>(name, i), kind, loc))
            .collect();
        self.rebind(graph, &mut kept.into_iter())
    }
}

/// `adam_m`: the name of a part of a state.
fn part<O: Optimizer>(name: &str, i: usize) -> LocalName<'_> {
    match O::STATE.get(i) {
        Some(part) => LocalName::Part(name, part),
        None => LocalName::NumberedPart(name, i),
    }
}

impl<O: Optimizer, T: Tree> LoopState for Running<O, T> {
    fn graph(&self) -> Option<Graph> {
        self.state.graph()
    }
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        self.state.values(graph, loc)
    }
    fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self {
        Self::new(&self.rule, self.state.rebind(graph, values))
    }
    fn fits(&self, next: &Self) -> bool {
        let (own, next) = (self.rule.settings(), next.rule.settings());
        own.len() == next.len() && own.iter().zip(&next).all(|(a, b)| a.is(b))
    }
}
