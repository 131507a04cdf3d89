//! Noise on sums over a batch's rows, each clipped by itself: that one row changes the sum by no more
//! than the bound, in how many steps it is, and how many rows there are.

use std::collections::HashSet;

use fedround_ir::fed::{
    Dp, Exposure, FedOp, Op, OpKind, OptOp, Place, PrivacyOp, Region, TreeOp, Value,
};

use super::Finder;

/// Steps over the mini-batches of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowSteps {
    /// Rows in a batch.
    pub batch: usize,
    /// How often a round goes over all rows. Each pass has every row in one batch.
    pub passes: usize,
    /// Which share of its examples each client sends as rows; `None` where this cannot be read off
    /// the graph.
    pub share: Option<f64>,
}

impl RowSteps {
    /// How many rows a round has of clients with so many examples each, where that is known.
    pub fn rows(&self, clients: usize, examples: u64) -> Option<u64> {
        // Rounded as the draw is.
        let each = (self.share? * examples as f64 - 1e-9).ceil() as u64;
        Some(clients as u64 * each.clamp(1.min(examples), examples))
    }
}

/// The values that regions read, those of an op's regions included, and those that they define.
fn reads(regions: &[Region], read: &mut Vec<Value>, defined: &mut HashSet<Value>) {
    for region in regions {
        defined.extend(&region.args);
        for op in &region.ops {
            defined.extend(&op.results);
            read.extend(&op.operands);
            reads(&op.regions, read, defined);
        }
        read.extend(&region.yields);
    }
}

impl<'m> Finder<'m> {
    /// The clip of each row, where a value is their sum, and the steps that it is noised in:
    ///
    /// ```text
    /// for rows in batches            any number of times, on the server
    ///   sum ← 0
    ///   for row in rows, one by one  once
    ///     sum ← sum + clip(f(row))
    ///   … noise(sum) …
    /// ```
    ///
    /// `f` knows of other rows by what is noised alone, and nothing but what is noised is told, as the
    /// claim of central differential privacy has it. Then a row changes one sum in each pass, by no
    /// more than the clip's bound.
    pub(super) fn row_by_row(
        &self,
        each: &'m Op,
        sum: Value,
        around: &[&Op],
    ) -> Option<(&'m Op, RowSteps)> {
        let (OpKind::Opt(OptOp::ForRows(count)), [body]) = (&each.kind, each.regions.as_slice())
        else {
            return None;
        };
        let (passes, batches) = self.passes(around)?;
        let [once, one, operands @ ..] = each.operands.as_slice() else {
            return None;
        };
        let (rows, first) = operands.split_at_checked(*count)?;
        let OpKind::Opt(OptOp::ForRows(n)) = batches.kind else {
            return None;
        };
        let batch = batches.regions.first()?.args.get(..n)?;
        let at = each.results.iter().position(|v| *v == sum)?;
        let (carried, next) = (body.args.get(count + at)?, body.yields.get(at)?);
        let add = self.made.get(next)?;
        let clip = match (&add.kind, add.operands.as_slice()) {
            (OpKind::Tree(TreeOp::Add), [a, b]) if a == carried => self.made.get(b)?,
            (OpKind::Tree(TreeOp::Add), [a, b]) if b == carried => self.made.get(a)?,
            _ => return None,
        };
        let sound = self.claims().any(|dp| dp == Dp::Central)
            && self.central(each)
            && (self.count(*once), self.count(*one)) == (Some(1), Some(1))
            && rows.iter().all(|row| batch.contains(row))
            && first.get(at).is_some_and(|v| self.zero(*v))
            && clip.kind == OpKind::Privacy(PrivacyOp::Clip)
            && self.knows_its_row_alone(clip, body, body.args.get(..*count)?);
        let steps = RowSteps {
            batch: self.count(*batches.operands.get(1)?)?,
            passes,
            share: batches.operands.get(2).and_then(|v| self.share(*v)),
        };
        sound.then_some((clip, steps))
    }

    /// How often a row is in a sum that is noised inside of some ops, and the loop over batches next
    /// to it; `None` where they are other than that loop and repetitions of known counts.
    fn passes<'a>(&self, around: &[&'a Op]) -> Option<(usize, &'a Op)> {
        let batches = around
            .iter()
            .rposition(|op| matches!(op.kind, OpKind::Opt(OptOp::ForRows(_))))?;
        let mut passes = 1_usize;
        for (i, op) in around.iter().enumerate() {
            let known = i == batches || op.kind == OpKind::Opt(OptOp::Repeat);
            let times = self.count(*op.operands.first()?).filter(|_| known)?;
            passes = passes.checked_mul(times)?;
        }
        Some((passes, around.get(batches)?))
    }

    /// Whether parameters are zero whatever they are made of.
    fn zero(&self, value: Value) -> bool {
        self.made.get(&value).is_some_and(|op| {
            let of = |i: usize| op.operands.get(i).copied();
            op.kind == OpKind::Tree(TreeOp::Scale)
                && of(0).and_then(|v| self.number(v)) == Some(0.0)
        })
    }

    /// Whether what is clipped in the loop over single rows is made of one row, and of what tells
    /// nothing of others.
    fn knows_its_row_alone(&self, clip: &Op, body: &Region, row: &[Value]) -> bool {
        let (mut open, mut seen) = (clip.operands.clone(), HashSet::new());
        while let Some(value) = open.pop() {
            if row.contains(&value) || !seen.insert(value) {
                continue;
            }
            if body.args.contains(&value) {
                return false;
            }
            match body.ops.iter().find(|op| op.results.contains(&value)) {
                Some(op) => {
                    let (mut read, mut defined) = (vec![], HashSet::new());
                    reads(&op.regions, &mut read, &mut defined);
                    open.extend(read.iter().filter(|v| !defined.contains(v)));
                    match self.copy_of_no_statistics(op, body) {
                        Some(of) => open.extend(of),
                        None => open.extend(&op.operands),
                    }
                }
                None if self.told(value) => return false,
                None => {}
            }
        }
        true
    }

    /// Whether a value tells of rows without noise, or has running statistics that may.
    fn told(&self, value: Value) -> bool {
        self.privacy.exposure(value) > Exposure::Noised
            || self.privacy.open(value).next().is_some()
            || self.trained.contains(&value)
    }

    /// What parameters are made of that a gradient is of and nothing else in a loop reads. Running
    /// statistics of rows are left in them alone, where no gradient sees them: in training, none of it
    /// depends on those that were there.
    fn copy_of_no_statistics(&self, grad: &Op, body: &Region) -> Option<&'m [Value]> {
        let (OpKind::Opt(OptOp::Grad), [of]) = (&grad.kind, grad.operands.as_slice()) else {
            return None;
        };
        let (mut read, mut defined) = (vec![], HashSet::new());
        reads(std::slice::from_ref(body), &mut read, &mut defined);
        let made = self.made.get(of).filter(|_| !defined.contains(of))?;
        let copy = matches!(&made.kind, OpKind::Tree(TreeOp::ReplaceParts(parts)) if parts.iter().any(|p| p == "Buffer"));
        (copy && read.iter().filter(|v| *v == of).count() == 1).then_some(&made.operands)
    }

    /// Which share of each client's examples some rows on the server are of, a row for each.
    fn share(&self, rows: Value) -> Option<f64> {
        let op = self.made.get(&rows)?;
        let of = |i: usize| op.operands.get(i).copied();
        match &op.kind {
            OpKind::Fed(FedOp::Concat)
            | OpKind::Privacy(
                PrivacyOp::Release(_)
                | PrivacyOp::ClipRows
                | PrivacyOp::L1Rows
                | PrivacyOp::Noise
                | PrivacyOp::Laplace,
            ) => self.share(of(0)?),
            OpKind::Fed(FedOp::Gather) if !op.visits() => self.share(of(0)?),
            OpKind::Fed(FedOp::Map) => {
                let at = op.results.iter().position(|v| *v == rows)?;
                self.share(*op.regions.first()?.yields.get(at)?)
            }
            OpKind::Opt(OptOp::DrawRows) => {
                let at = op.results.iter().position(|v| *v == rows)?;
                let own = self.module.type_of(rows).place == Place::Client;
                let all = self.share(of(1 + at)?).filter(|all| own && *all == 1.0);
                Some(all? * self.number(of(0)?)?)
            }
            OpKind::Opt(OptOp::Collect) => Some(1.0),
            _ => None,
        }
    }
}
