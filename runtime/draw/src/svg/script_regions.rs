//! The frames of maps, loops and gradients.

use fedround_ir::fed::{FedOp, Kind, Op, OpKind, OptOp, Place, Region, Value};
use fedround_passes::report::notation::{TURN, Text};

use super::scene::{Frame, FrameKind};
use super::script::Script;

impl Script<'_> {
    /// Nothing for a map that only names values, such as `n_k`.
    pub(super) fn map(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        if let Some(client) = region.args.first() {
            self.texts.insert(*client, Text::name("k"));
        }
        for (arg, operand) in region.args.iter().skip(1).zip(&op.operands) {
            let text = self.text(*operand);
            self.texts.insert(*arg, text);
        }
        let cohort = op
            .operands
            .iter()
            .find_map(|v| self.cohorts.get(v).cloned());
        let cohort = cohort.unwrap_or_else(|| "cohort".to_owned());
        let mut items = self.region(region, &[]);
        let plain = items.is_empty() && region.yields.iter().all(|v| self.text(*v).is_name());
        if plain {
            for (result, yielded) in results.iter().zip(&region.yields) {
                let text = self.text(*yielded);
                self.texts.insert(*result, text);
                self.cohorts.insert(*result, cohort.clone());
            }
            return None;
        }
        let names = results.iter().map(|result| self.name(*result, &op.kind));
        let names: Vec<String> = names.collect();
        let place = op.operands.first().map(|v| self.place(*v));
        let on_server = place == Some(Place::Gathered);
        let title = match cohort.as_str() {
            TURN => format!("on {TURN}"),
            _ if on_server => format!("for each client k ∈ {cohort}, on the server"),
            _ => format!("for each client k ∈ {cohort}, in parallel"),
        };
        self.rename(&region.yields, &names, &mut items);
        self.give_names(results, &names);
        self.cohorts
            .extend(results.iter().map(|v| (*v, cohort.clone())));
        Some(Frame {
            title,
            note: String::new(),
            op: op.kind.name(),
            kind: FrameKind::Map,
            on_server,
            items,
        })
    }

    pub(super) fn repeat(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        let (fixed, own) = op.kind.carried_from().unwrap_or_default();
        let (control, first) = op.operands.split_at_checked(fixed)?;
        let title = match (&op.kind, control) {
            (OpKind::Opt(OptOp::ForBatches), [_, epochs, size]) => {
                let b = self.unique("b");
                self.give_names(&region.args, std::slice::from_ref(&b));
                let (epochs, size) = (self.text(*epochs), self.text(*size));
                format!("for {b} in batches({}, {})", epochs.plain(), size.plain())
            }
            (OpKind::Opt(OptOp::ForRows(_)), [epochs, size, rows @ ..]) => {
                let names: Vec<String> = rows.iter().map(|_| self.unique("r")).collect();
                self.give_names(&region.args, &names);
                let (epochs, size) = (self.text(*epochs), self.text(*size));
                format!(
                    "for {} in rows of {}, batches({}, {})",
                    names.join(", "),
                    self.list(rows),
                    epochs.plain(),
                    size.plain()
                )
            }
            (OpKind::Fed(FedOp::InTurn), [cohort]) => {
                self.give_names(&region.args, &[TURN.to_owned()]);
                let cohort = self.text(*cohort);
                format!("for each client k ∈ {}, in turn", cohort.plain())
            }
            _ => format!("{} times", self.list(control)),
        };
        let mut notes = vec![];
        let mut names = vec![];
        for (arg, start) in region.args.iter().skip(own).zip(first) {
            let base = if self.kind(*arg) == Kind::Params {
                "w"
            } else {
                "s"
            };
            let name = self.unique(base);
            notes.push(format!("{name} = {}", self.text(*start).plain()));
            self.texts.insert(*arg, Text::name(name.clone()));
            names.push(name);
        }
        let mut items = self.region(region, &names);
        self.rename(&region.yields, &names, &mut items);
        self.give_names(results, &names);
        Some(Frame {
            title,
            note: match notes.is_empty() {
                true => String::new(),
                false => format!("starting from {}", notes.join(", ")),
            },
            op: op.kind.name(),
            kind: FrameKind::Loop,
            on_server: false,
            items,
        })
    }

    /// Rows of all batches: it carries nothing from one batch to the next.
    pub(super) fn collect(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        let [_, size] = op.operands.as_slice() else {
            return None;
        };
        let b = self.unique("b");
        self.give_names(&region.args, std::slice::from_ref(&b));
        let names = results.iter().map(|result| match self.kind(*result) {
            Kind::Labels => "y",
            _ => "z",
        });
        let names: Vec<&str> = names.collect();
        let names: Vec<String> = names.into_iter().map(|base| self.unique(base)).collect();
        let mut items = self.region(region, &names);
        self.rename(&region.yields, &names, &mut items);
        self.give_names(results, &names);
        let (size, all) = (self.text(*size), names.join(", "));
        Some(Frame {
            title: format!("collect {all} for {b} in batches(1, {})", size.plain()),
            note: String::new(),
            op: op.kind.name(),
            kind: FrameKind::Loop,
            on_server: false,
            items,
        })
    }

    pub(super) fn grad(&mut self, op: &Op, results: &[Value], region: &Region) -> Option<Frame> {
        let at = op.operands.first().map(|v| self.text(*v))?;
        let variable = if at.is_name() {
            at.plain().to_owned()
        } else {
            self.unique("v")
        };
        self.give_names(&region.args, std::slice::from_ref(&variable));
        let f = self.unique("f");
        let mut items = self.region(region, std::slice::from_ref(&f));
        self.rename(&region.yields, std::slice::from_ref(&f), &mut items);
        let g = self.unique("g");
        self.give_names(results, &[g.clone(), f.clone()]);
        let note = if at.is_name() {
            String::new()
        } else {
            format!("at {variable} = {}", at.plain())
        };
        Some(Frame {
            title: format!("{g} ← ∇{f}({variable})"),
            note,
            op: op.kind.name(),
            kind: FrameKind::Grad,
            on_server: false,
            items,
        })
    }
}
