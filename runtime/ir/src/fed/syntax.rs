//! How ops are written: the table of their names and attributes, and the words between operands.

use super::{Dp, Hook, Kind, Math, OpKind, Reduce};
use crate::text::attribute::{
    AttributeText, Codec, Count, Piece, Quoted, QuotedList, Real, TextAttributes,
};
use fedround_names::nearest;

use crate::text::ops;

ops! { OpKind {
    "fed.hyper" = Hyper [index: Count];
    "arith.const" = Const [value: Real];
    "arith.index_const" = IndexConst [value: Count];
    "arith.real" = Real [];
    "arith.add" = Add [];
    "arith.sub" = Sub [];
    "arith.mul" = Mul [];
    "arith.div" = Div [];
    "arith.pow" = Pow [];
    "arith.neg" = Neg [];
    "arith.sqrt" = Math (Math::Sqrt);
    "arith.exp" = Math (Math::Exp);
    "arith.log" = Math (Math::Log);
    "arith.cos" = Math (Math::Cos);
    "arith.floor" = Math (Math::Floor);
    "arith.select" = Select [];
    "fed.round_index" = RoundIndex [];
    "fed.num_clients" = NumClients [];
    "fed.sample" = Sample [];
    "fed.everyone" = Everyone [];
    "fed.within" = Within [];
    "fed.outside" = Outside [];
    "fed.rotating" = Rotating [];
    "fed.drawn" = Drawn [];
    "fed.broadcast" = Broadcast [];
    "fed.map" = Map [];
    "fed.sum" = Reduce (Reduce::Sum);
    "fed.mean" = Reduce (Reduce::Mean);
    "fed.weighted_mean" = Reduce (Reduce::WeightedMean);
    "fed.gather" = Gather [];
    "fed.scatter" = Scatter [];
    "fed.concat" = Concat [];
    "fed.positions" = Positions [];
    "fed.every_class" = EveryClass [];
    "fed.local_classes" = LocalClasses [];
    "fed.blank" = Blank [];
    "fed.client_labels" = ClientLabels [];
    "fed.num_examples" = NumExamples [];
    "fed.global_params" = GlobalParams [];
    "fed.server_state" = ServerState [name: Quoted, kind: ResultKind];
    "fed.set_server_state" = SetServerState [name: Quoted];
    "fed.client_state" = ClientState [name: Quoted, kind: ResultKind];
    "fed.set_client_state" = SetClientState [name: Quoted];
    "fed.personal" = Personal [name: Quoted, parts: QuotedList];
    "opt.for_batches" = ForBatches [];
    "opt.batch" = OneBatch [];
    "opt.collect" = Collect [];
    "opt.for_rows" = ForRows [rows: Count];
    "opt.draw_rows" = DrawRows [];
    "opt.least_rows" = LeastRows [];
    "opt.repeat" = Repeat [];
    "opt.grad" = Grad [];
    "batch." = Column [name: InName, kind: ResultKind];
    "nn." = Apply [name: InName];
    "loss." = Loss [name: InName];
    "fn." = Function [name: InName];
    "tree.add" = TreeAdd [];
    "tree.sub" = TreeSub [];
    "tree.scale" = TreeScale [];
    "tree.dot" = TreeDot [];
    "tree.sq_norm" = TreeSqNorm [];
    "tree.mul" = TreeMul [];
    "tree.div" = TreeDiv [];
    "tree.sqrt" = TreeMath (Math::Sqrt);
    "tree.exp" = TreeMath (Math::Exp);
    "tree.log" = TreeMath (Math::Log);
    "tree.cos" = TreeMath (Math::Cos);
    "tree.floor" = TreeMath (Math::Floor);
    "tree.layer_sum" = TreeLayerSum [];
    "tree.add_scalar" = TreeAddScalar [];
    "tree.clamp" = TreeClamp [];
    "tree.select" = TreeSelect [];
    "tree.replace_parts" = TreeReplaceParts [parts: QuotedList];
    "priv.release" = Release [reason: Quoted];
    "priv.clip" = Clip [];
    "priv.noise" = Noise [];
    "priv.clip_rows" = ClipRows [];
    "priv.laplace" = Laplace [];
    "priv.claim" = Claim [model: DpName];
    "fed.call" = Call [hook: HookName];
    "fed.super" = Super [hook: HookName];
} }

/// What follows a prefix in the op's name, and is written there.
struct InName;

impl Codec<String> for InName {
    fn write(_: &String, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<String, String> {
        match from.source().suffix {
            "" => Err("a name after the dot".to_owned()),
            name => Ok(name.to_owned()),
        }
    }
}

/// The kind of the first result's type.
struct ResultKind;

impl Codec<Kind> for ResultKind {
    fn write(_: &Kind, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Kind, String> {
        from.source().kind.ok_or_else(|| "a type".to_owned())
    }
}

/// `"local"` or `"central"`.
struct DpName;

impl Codec<Dp> for DpName {
    fn write(value: &Dp, label: &'static str, to: &mut AttributeText) {
        Quoted::write(&value.name().to_owned(), label, to);
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Dp, String> {
        let model = from.plain(|piece| match piece {
            Piece::Text(name) => [Dp::Local, Dp::Central]
                .into_iter()
                .find(|dp| dp.name() == name),
            _ => None,
        });
        model.ok_or_else(|| "`\"local\"` or `\"central\"`".to_owned())
    }
}

/// `@hook`.
struct HookName;

impl Codec<Hook> for HookName {
    fn write(value: &Hook, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("@{}", value.name()));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Hook, String> {
        let mut found = "";
        let hook = from.plain(|piece| match piece {
            Piece::Symbol(name) => {
                found = name;
                Hook::named(name)
            }
            _ => None,
        });
        hook.ok_or_else(|| match nearest(found, Hook::ALL.map(Hook::name)) {
            Some(near) => format!("a hook (did you mean `@{near}`?)"),
            None => format!("a hook, one of {}", Hook::ALL.map(Hook::name).join(", ")),
        })
    }
}

impl Hook {
    /// The hook of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.name() == name)
    }
}

impl OpKind {
    /// The start of the names of ops that a name ends, such as `loss.` of `loss.cross_entropy`.
    pub(super) fn prefixes() -> impl Iterator<Item = &'static str> {
        let names = Self::NAMES.iter().copied();
        names.filter(|name| name.ends_with('.'))
    }

    /// Its name in text, such as `tree.sq_norm`.
    pub fn name(&self) -> String {
        match self {
            Self::Column(name, _) | Self::Apply(name) | Self::Loss(name) | Self::Function(name) => {
                format!("{}{name}", self.table_name())
            }
            kind => kind.table_name().to_owned(),
        }
    }

    /// The word between its operands.
    pub(super) fn separator(&self) -> &'static str {
        match self {
            Self::Broadcast | Self::Scatter => "to",
            Self::Reduce(_) | Self::Gather => "by",
            _ => ",",
        }
    }

    /// How many operands stand before the `with(..)` of an op whose region carries values.
    pub(super) fn controls(&self) -> Option<usize> {
        match self {
            Self::ForBatches => Some(3),
            Self::Collect => Some(2),
            Self::ForRows(n) => Some(2 + n),
            Self::Repeat => Some(1),
            _ => None,
        }
    }

    /// What ends its region.
    pub(super) fn terminator(&self) -> &'static str {
        match self {
            Self::Map => FUNC_END,
            _ => "opt.yield",
        }
    }
}

/// What ends a function, and the code of a client.
pub(super) const FUNC_END: &str = "fed.yield";
