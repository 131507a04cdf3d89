//! Finds repetitions whose result may be settled before they end.

use fedround_ir::fed::{ArithOp, Effect, Op, OpKind, OptOp, Value};

use super::control::{Role, role};

/// The position, among the values that a repetition carries, of the number that settles it. The body keeps
/// this number once it is positive, does nothing but compute, and the number is the only result that is read
/// `later`. So once it is positive, no further iteration changes what anybody reads.
///
/// A line search is of this form: it keeps the first step size that is small enough.
pub(super) fn settles(op: &Op, later: &[Value]) -> Option<usize> {
    if op.kind != OpKind::Opt(OptOp::Repeat) {
        return None;
    }
    let body = op.regions.first()?;
    let mut read = (0..op.results.len()).filter(|&i| later.contains(&op.results[i]));
    let (Some(place), None) = (read.next(), read.next()) else {
        return None;
    };
    let (number, next) = (body.args.get(place)?, body.yields.get(place)?);
    let keeps = |op: &Op| {
        op.kind == OpKind::Arith(ArithOp::Select)
            && op.results == [*next]
            && op.operands.starts_with(&[*number, *number])
    };
    let computes = |op: &Op| op.kind.effect() == Effect::Pure && role(&op.kind) != Role::Control;
    (body.ops.iter().all(computes) && body.ops.iter().any(keeps)).then_some(place)
}

#[cfg(test)]
mod tests {
    use fedround::__private::{for_each, range};
    use fedround::prelude::*;
    use fedround::{Definer, Scalar};

    use crate::schedule::{Block, Item, schedule};
    use crate::testing::Closure;

    /// Clients search a step size: `there` is a loss at `w − rate · w`, and `result` is made of the last rate
    /// that was tried and of the first one that was enough.
    fn search(
        m: &mut Definer,
        there: fn(&Params) -> Scalar,
        next: fn(&Scalar, &Scalar) -> Scalar,
        result: fn(Scalar, Scalar) -> Scalar,
    ) {
        m.round(|server, w| {
            let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                let start = (k.num_examples(), Scalar::from(0.0));
                let (rate, kept) = for_each(range(8), start, |(), (rate, kept)| {
                    let enough = there(&(&w - &rate * &w));
                    let kept = next(&kept, &enough.select(&rate, 0.0));
                    (0.5 * rate, kept)
                });
                result(rate, kept) * w
            });
            w_k.mean()
        });
    }

    fn first(kept: &Scalar, found: &Scalar) -> Scalar {
        kept.select(kept, found)
    }

    fn last(kept: &Scalar, found: &Scalar) -> Scalar {
        found.select(found, kept)
    }

    fn slope(w: &Params) -> Scalar {
        grad(w, |w| w.sq_norm()).sq_norm()
    }

    fn in_block(block: &Block) -> Option<usize> {
        let items = block.items.iter();
        let mut loops = items.filter_map(|(item, _)| match item {
            Item::Control(control) => control.settles.or(in_block(control.body.as_ref()?)),
            Item::Compute(_) => None,
        });
        loops.next()
    }

    /// Which value settles the loop.
    fn settles(algorithm: fn(&mut Definer)) -> Option<usize> {
        let linked = crate::testing::linked(&Closure(algorithm));
        in_block(&schedule(&linked).unwrap().round)
    }

    #[test]
    fn the_first_positive_number_settles_a_search() {
        let place = settles(|m| search(m, |w| w.sq_norm(), first, |_, kept| kept));
        assert_eq!(place, Some(1));
    }

    #[test]
    fn a_loop_goes_on_while_anything_that_is_read_changes() {
        // The rate is read, too.
        let place = settles(|m| search(m, |w| w.sq_norm(), first, |rate, kept| rate + kept));
        assert_eq!(place, None);
        // The number is replaced.
        let place = settles(|m| search(m, |w| w.sq_norm(), last, |_, kept| kept));
        assert_eq!(place, None);
    }

    #[test]
    fn a_loop_with_a_gradient_goes_on() {
        // Its losses are shown.
        let place = settles(|m| search(m, slope, first, |_, kept| kept));
        assert_eq!(place, None);
    }
}
