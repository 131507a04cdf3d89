//! Noise on sums over the rows of a batch, where each row is clipped (DP-SGD). The analysis proves that
//! one row changes the sum by no more than the bound, and counts steps and rows.

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
    /// How often a round goes over all rows. In each pass, every row is in exactly one batch.
    pub passes: usize,
    /// The share of its examples that each client sends as rows; `None` if the graph does not say it.
    pub share: Option<f64>,
}

impl RowSteps {
    /// How many rows a round has if each client has this many examples; `None` if that is unknown.
    pub fn rows(&self, clients: usize, examples: u64) -> Option<u64> {
        // Rounded as the draw is.
        let each = (self.share? * examples as f64 - 1e-9).ceil() as u64;
        Some(clients as u64 * each.clamp(1.min(examples), examples))
    }
}

impl<'m> Finder<'m> {
    /// If `sum` is a sum of clipped rows that noise is added to in each step, returns the op that clips
    /// and the steps. The code must have this form:
    ///
    /// ```text
    /// for rows in batches            any number of times, on the server or on a client
    ///   sum ← 0
    ///   for row in rows, one by one  once
    ///     sum ← sum + clip(f(row))
    ///   … noise(sum) …
    /// ```
    ///
    /// `f` may depend on other rows only through noised values, and only noised values may leave: the server,
    /// as the claim of central differential privacy demands, or the client, as the claim of local one does.
    /// Then a row changes one sum in each pass, by no more
    /// than the bound of the clip.
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
        let central = self.central(each);
        let claim = if central { Dp::Central } else { Dp::Local };
        let at = each.results.iter().position(|v| *v == sum)?;
        let (carried, next) = (body.args.get(count + at)?, body.yields.get(at)?);
        let add = self.known.made(*next)?;
        let clip = match (&add.kind, add.operands.as_slice()) {
            (OpKind::Tree(TreeOp::Add), [a, b]) if a == carried => self.known.made(*b)?,
            (OpKind::Tree(TreeOp::Add), [a, b]) if b == carried => self.known.made(*a)?,
            _ => return None,
        };
        let sound = self.claims().any(|dp| dp == claim)
            && (self.known.count(*once), self.known.count(*one)) == (Some(1), Some(1))
            && rows.iter().all(|row| batch.contains(row))
            && first.get(at).is_some_and(|v| self.zero(*v))
            && clip.kind == OpKind::Privacy(PrivacyOp::Clip)
            && self.knows_its_row_alone(clip, body, body.args.get(..*count)?);
        let steps = RowSteps {
            batch: self.known.count(*batches.operands.get(1)?)?,
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
            match op.kind {
                OpKind::Opt(OptOp::Repeat) => {}
                OpKind::Opt(OptOp::ForRows(_)) if i == batches => {}
                // The code of one client, which runs once.
                OpKind::Fed(FedOp::Map) if i == 0 && self.on_clients(op) => continue,
                _ => return None,
            }
            passes = passes.checked_mul(self.known.count(*op.operands.first()?)?)?;
        }
        Some((passes, around.get(batches)?))
    }

    /// Whether a map runs on each client, once, and not on the server.
    fn on_clients(&self, map: &Op) -> bool {
        let first = map.operands.first().map(|v| self.module.type_of(*v).place);
        first == Some(Place::Clients) && !self.visits(map)
    }

    /// Whether parameters are zero for every input.
    fn zero(&self, value: Value) -> bool {
        self.known.made(value).is_some_and(|op| {
            let of = |i: usize| op.operands.get(i).copied();
            op.kind == OpKind::Tree(TreeOp::Scale)
                && of(0).and_then(|v| self.known.number(v)) == Some(0.0)
        })
    }

    /// Whether the clipped value depends only on its own row and on values that tell nothing about other
    /// rows.
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
                Some(op) if op.contains(reads_other_rows) => return false,
                Some(op) => {
                    for region in &op.regions {
                        let defined = region.definitions();
                        open.extend(region.reads().filter(|v| !defined.contains(v)));
                    }
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

    /// Whether a value tells something about rows without noise, or may have running statistics that do.
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
        let made = self.known.made(*of);
        let made = made.filter(|_| !body.definitions().contains(of))?;
        let copy = matches!(&made.kind, OpKind::Tree(TreeOp::ReplaceParts(parts)) if parts.iter().any(|p| p == "Buffer"));
        (copy && body.reads().filter(|v| v == of).count() == 1).then_some(&made.operands)
    }

    /// The share of each client's examples that some rows on the server come from.
    pub(super) fn share(&self, rows: Value) -> Option<f64> {
        let op = self.known.made(rows)?;
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
            OpKind::Opt(OptOp::SampleRows) => {
                let at = op.results.iter().position(|v| *v == rows)?;
                let own = self.module.type_of(rows).place == Place::Client;
                let all = self.share(of(1 + at)?).filter(|all| own && *all == 1.0);
                Some(all? * self.known.number(of(0)?)?)
            }
            OpKind::Opt(OptOp::Collect) => Some(1.0),
            _ => None,
        }
    }
}

/// Whether an op reads rows of its client that are not its operands, or what earlier steps made of them.
fn reads_other_rows(op: &Op) -> bool {
    matches!(
        &op.kind,
        OpKind::Fed(
            FedOp::LabelCounts | FedOp::LocalClasses | FedOp::ClientState(..) | FedOp::Personal(..)
        ) | OpKind::Opt(OptOp::Collect | OptOp::OneBatch)
    )
}
