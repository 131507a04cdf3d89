//! Ops, regions, functions and modules of the fed dialect.

use super::{Kind, Place, Type, Value};
use crate::Loc;

/// How the values of a cohort become one value on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// `Σ x_k`.
    Sum,
    /// `1/m Σ x_k`.
    Mean,
    /// `Σ n_k x_k / Σ n_k`; the op's second operand holds the weights `n_k`.
    WeightedMean,
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Math {
    /// `√x`.
    Sqrt,
    /// `eˣ`.
    Exp,
    /// `ln x`.
    Log,
    /// `cos x`, of radians.
    Cos,
    /// `⌊x⌋`.
    Floor,
}

/// A model of differential privacy: who adds the noise, and so who must be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dp {
    /// Every client, to what it uploads.
    Local,
    /// The server, to what it aggregated.
    Central,
}

/// What an op does. Operands and results are listed as `(operands) -> results`.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// `fed.hyper "lr"`: `() -> f32 | index`; a hyper-parameter, by its index in [`Module::hypers`].
    Hyper(usize),
    /// `arith.const`: `() -> f32`.
    Const(f64),
    /// `arith.index_const`: `() -> index`.
    IndexConst(usize),
    /// `arith.real`: `(index) -> f32`; a count as a number.
    Real,
    /// `arith.add`: `(f32, f32) -> f32`, like the three that follow.
    Add,
    /// `arith.sub`.
    Sub,
    /// `arith.mul`.
    Mul,
    /// `arith.div`.
    Div,
    /// `arith.pow`: `(f32 a, f32 b) -> f32`; `aᵇ`.
    Pow,
    /// `arith.neg`: `(f32) -> f32`.
    Neg,
    /// `arith.sqrt` and kin: `(f32) -> f32`.
    Math(Math),
    /// `arith.select`: `(f32 c, f32 a, f32 b) -> f32`; `a` if `c > 0`, else `b`.
    Select,

    /// `fed.round_index`: `() -> f32`; `t`, how many rounds were completed before this one.
    RoundIndex,
    /// `fed.num_clients`: `() -> f32`; `K`, how many clients there are.
    NumClients,
    /// `fed.sample`: `(f32) -> cohort@server`; `max(C·K, 1)` clients without replacement. Or
    /// `(f32, cohort@server) -> cohort@server`; so many of a cohort's.
    Sample,
    /// `fed.everyone`: `() -> cohort@server`.
    Everyone,
    /// `fed.within`: `(index first, index count) -> cohort@server`; so many clients from `first`
    /// on, by their numbers.
    Within,
    /// `fed.outside`: `(index first, index count) -> cohort@server`; all but those.
    Outside,
    /// `fed.rotating`: `(index size, index dropped) -> cohort@server`; so many clients, of whom so many
    /// are dropped from round to round for as many of the rest.
    Rotating,
    /// `fed.drawn`: `() -> cohort@server`; the cohort that was made last in this round, by this layer
    /// or another. Replaced by `link-hooks` with that cohort.
    Drawn,
    /// `fed.broadcast`: `(T@server, cohort@server) -> {T}@clients`.
    Broadcast,
    /// `fed.map`: `({T}@clients…) -> {U}@clients…`; the region's arguments are the client and one
    /// client value for each operand, its yields one client value for each result. Or all of this
    /// on the server, once for each client: `({T}@server…) -> {U}@server…`; that code may read
    /// values of the server around it.
    Map,
    /// `fed.weighted_mean` and kin: `({T}@clients[, {f32}@clients]) -> T@server`, or the same over
    /// values that were gathered.
    Reduce(Reduce),
    /// `fed.gather`: `({T}@clients) -> {T}@server`; every client's own value, on the server. Or
    /// `({T}@clients, {U}@server) -> {T}@server`, of what was visited: for each client that `{U}` is
    /// of, the mean over those visited.
    Gather,
    /// `fed.scatter`: `({T}@server) -> {T}@clients`; to every client its own value. Or
    /// `({T}@server, cohort@server) -> {T}@clients`; every value to every client of the cohort,
    /// which is a visit.
    Scatter,
    /// `fed.concat`: `({tensor | labels}@server) -> tensor | labels @server`; the rows of all
    /// clients, in the order of the cohort.
    Concat,
    /// `fed.positions`: `({tensor | labels}@server) -> labels@server`; for the rows that `fed.concat` joins the
    /// place of their client in the cohort, from 0.
    Positions,
    /// `fed.client_labels`: `(client@server, tensor@server) -> labels@server`; the client's number
    /// among all clients, once for each row of the tensor.
    ClientLabels,
    /// `fed.every_class`: `() -> labels`; each class once, in order.
    EveryClass,
    /// `fed.local_classes`: `(client) -> labels`; each class that the client has examples of, once.
    LocalClasses,
    /// `fed.blank`: `(tensor | labels) -> tensor`; a zero input of the model for each row.
    Blank,
    /// `fed.num_examples`: `(client) -> f32`; `n_k`.
    NumExamples,
    /// `fed.global_params`: `(client) -> params`; what was broadcast to the client this round.
    /// Replaced by `link-hooks` with the argument of the enclosing `fed.map`.
    GlobalParams,
    /// `fed.server_state "v"`: `() -> params | f32 @server`; zeros before it is first set. In code
    /// for one client, `(client@server) -> params | f32 @server`: one for each client.
    ServerState(String, Kind),
    /// `fed.set_server_state "v"`: `(params | f32 @server) -> ()`, or
    /// `(client@server, params | f32 @server) -> ()`.
    SetServerState(String),
    /// `fed.client_state "c"`: `(client) -> params | f32 | tensor | labels`; kept between rounds.
    /// Zeros at first; a tensor or labels, of which no shape is known then, must have been set.
    ClientState(String, Kind),
    /// `fed.set_client_state "c"`: `(client, params | f32 | tensor | labels) -> ()`.
    SetClientState(String),

    /// `fed.personal "v" ["head"]`: `(client, params first) -> params`; the client state `v`, or
    /// `first` before it is first set. Its named parts are personal: they may not be uploaded.
    Personal(String, Vec<String>),

    /// `opt.for_batches`: `(client, index epochs, index size, T…) -> T…`; the region's arguments
    /// are the batch and the carried values, its yields the next carried values.
    ForBatches,
    /// `opt.batch`: `(client, index size) -> batch`; one batch, drawn anew each time.
    OneBatch,
    /// `opt.collect`: `(client, index size) -> tensor | labels…`; the region's argument is a batch, its
    /// yields have a row for each of its examples. Every example of the client is in one batch; the
    /// results are the rows of all.
    Collect,
    /// `opt.for_rows`: `(index epochs, index size, tensor | labels…, T…) -> T…`; as
    /// [`OpKind::ForBatches`], over the rows of so many values, which go together.
    ForRows(usize),
    /// `opt.draw_rows`: `(index n | f32 share, tensor | labels…) -> tensor | labels…`; `n` rows or that
    /// share of them at random, the same ones of each value, drawn anew each time. All where there
    /// are fewer.
    DrawRows,
    /// `opt.least_rows`: `(index n, tensor key, tensor | labels…) -> tensor | labels…`; the `n` rows of
    /// each value where the key, a number a row, is least, the least first and the earlier of equals.
    /// All where there are fewer.
    LeastRows,
    /// `opt.repeat`: `(index n, T…) -> T…`; the region's arguments and yields are the carried values.
    Repeat,
    /// `opt.grad`: `(T) -> T, f32` for parameters or a tensor; gradient and value of the region, a
    /// function of them to one scalar.
    Grad,
    /// `batch.NAME`: `(batch) -> tensor | labels`; a column of the batch: its inputs `x`, its class
    /// labels `y`, and what else the dataset has.
    Column(String, Kind),
    /// `nn.NAME`: `(params, tensor | labels | f32…) -> tensor`; a function of the model, such as its
    /// forward pass.
    Apply(String),
    /// `loss.NAME`: `(tensor | labels | f32…) -> f32`; a registered loss, traced from burn code.
    Loss(String),

    /// `fn.NAME`: `(tensor | labels | f32…) -> tensor`; a registered function, like a loss.
    Function(String),

    /// `tree.add`: `(params, params) -> params`. What holds entry by entry is defined for tensors,
    /// too: here and below, `params` stands for either, the same throughout.
    TreeAdd,
    /// `tree.sub`: `(params, params) -> params`.
    TreeSub,
    /// `tree.scale`: `(f32, params) -> params`.
    TreeScale,
    /// `tree.dot`: `(params, params) -> f32`.
    TreeDot,
    /// `tree.sq_norm`: `(params) -> f32`.
    TreeSqNorm,
    /// `tree.mul`: `(params, params) -> params`, entry by entry, like the five that follow.
    TreeMul,
    /// `tree.div`.
    TreeDiv,
    /// `tree.sqrt` and kin: `(params) -> params`.
    TreeMath(Math),
    /// `tree.add_scalar`: `(f32, params) -> params`.
    TreeAddScalar,
    /// `tree.clamp`: `(f32 min, f32 max, params) -> params`.
    TreeClamp,
    /// `tree.select`: `(params c, params a, params b) -> params`; `a` where `c > 0`, else `b`.
    TreeSelect,
    /// `tree.layer_sum`: `(params) -> params`; every entry is the sum over its layer, buffers left
    /// out. A layer is all of a parameter's path but its last segment.
    TreeLayerSum,

    /// `tree.replace_parts ["head"]`: `(params a, params b) -> params`; `a` with the named parts of
    /// `b`. A part is the first segment of a parameter's path: `head` of `head.weight`.
    TreeReplaceParts(Vec<String>),

    /// `priv.release "why"`: `(T) -> T`, a tensor or labels; the spec's statement that something
    /// derived from examples may leave its client, with the reason that `explain` prints.
    Release(String),
    /// `priv.clip`: `(params x, f32 bound) -> params`; `min(1, C / ‖x‖) · x`.
    Clip,
    /// `priv.noise`: `(params x, f32 sigma) -> params`; `x + N(0, σ² I)`, drawn anew each time.
    Noise,
    /// `priv.clip_rows`: `(tensor x, f32 bound) -> tensor`; as `priv.clip`, each row by its own norm.
    ClipRows,
    /// `priv.laplace`: `(tensor x, f32 b) -> tensor`; `x +` Laplace noise of scale `b`, drawn anew
    /// each time.
    Laplace,
    /// `priv.claim "local"`: `() -> ()`; the model of differential privacy that the spec claims,
    /// which the verifier holds it to.
    Claim(Dp),

    /// `fed.call @hook`: a hook's outermost definition; resolved by `link-hooks`.
    Call(Hook),
    /// `fed.super @hook`: the next inner definition; resolved by `link-hooks`.
    Super(Hook),
}

/// One op: what, on which values, with which regions, from where.
#[derive(Clone, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Values it reads.
    pub operands: Vec<Value>,
    /// Values it defines.
    pub results: Vec<Value>,
    /// Nested code; see [`OpKind`] for which ops have it.
    pub regions: Vec<Region>,
    /// Where the user wrote it.
    pub loc: Loc,
}

impl Op {
    /// The values that gradients in this op are taken with respect to. In training, a forward pass
    /// in such a gradient advances the buffers of its value.
    pub fn differentiated(&self) -> Vec<Value> {
        let own = self.operands.first().filter(|_| self.kind == OpKind::Grad);
        let inner = self.regions.iter().flat_map(|region| &region.ops);
        own.copied()
            .into_iter()
            .chain(inner.flat_map(Self::differentiated))
            .collect()
    }
}

/// A block of ops with arguments, ended by the values it yields.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Values defined on entry.
    pub args: Vec<Value>,
    /// Ops in order.
    pub ops: Vec<Op>,
    /// Values given to the parent op.
    pub yields: Vec<Value>,
}

/// The parts of an algorithm that a plug-in may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    /// `(params@server) -> params@server`: the server's loop body.
    Round,
    /// `(client, params) -> params`: local training.
    ClientUpdate,
    /// `({params}@clients) -> params@server`.
    Aggregate,
    /// `(client, params, batch) -> params`: the direction that a step descends.
    Gradient,
    /// `(client, params, batch) -> f32`.
    Loss,
    /// `(client, params) -> f32`: what is added to the data loss.
    Regularizer,
    /// `(client, params) -> params`: the model that a client uses, made of the global one.
    Personalize,
    /// `(params, tensor, labels) -> params` on the server: the direction that a step on rows descends.
    ServerGradient,
}

/// One definition of a hook by one layer.
#[derive(Clone, Debug)]
pub struct Func {
    /// Which hook.
    pub hook: Hook,
    /// Index of the defining layer in [`Module::layers`].
    pub layer: usize,
    /// Its code.
    pub body: Region,
    /// Where it was defined.
    pub loc: Loc,
}

/// A hyper-parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum HyperValue {
    /// A real number.
    Float(f64),
    /// A count.
    Int(usize),
    /// A switch, decided when the graph is built.
    Bool(bool),
    /// A choice, decided when the graph is built.
    Text(String),
}

/// A hyper-parameter that the graph reads by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyper {
    /// Name, unique in the module.
    pub name: String,
    /// Index of the declaring layer.
    pub layer: usize,
    /// Its value in this program: `Float` or `Int`.
    pub value: HyperValue,
}

/// One algorithm of a composition, such as FedProx over FedAvg.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Name of the algorithm, such as `fedprox`.
    pub name: String,
}

/// A staged algorithm: all layers, innermost first, and their hook definitions.
/// After `link-hooks` only the outermost [`Hook::Round`] is left, with everything inlined.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The algorithms, innermost first.
    pub layers: Vec<Layer>,
    /// Hyper-parameters that the code reads, in order of first use.
    pub hypers: Vec<Hyper>,
    /// Hook definitions, layer by layer.
    pub funcs: Vec<Func>,
    /// Type of each [`Value`].
    pub types: Vec<Type>,
    /// Whether it goes on with the states of another program, which may be the one that sets them.
    /// Not part of its text.
    pub resumes: bool,
}

impl Op {
    /// Whether it takes every value of a cohort to each client of another, or brings back what it
    /// became there.
    pub fn visits(&self) -> bool {
        matches!(self.kind, OpKind::Scatter | OpKind::Gather) && self.operands.len() > 1
    }
}

impl Module {
    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// Whether an op brings values from clients to the server.
    pub fn uploads(&self, op: &Op) -> bool {
        self.uploaded(op).next().is_some()
    }

    /// The values that an op brings from clients to the server.
    pub fn uploaded<'o>(&self, op: &'o Op) -> impl Iterator<Item = &'o Value> {
        let crosses = matches!(op.kind, OpKind::Gather | OpKind::Reduce(_));
        let from_clients =
            move |value: &&Value| crosses && self.type_of(**value).place == Place::Clients;
        op.operands.iter().filter(from_clients)
    }

    /// A new value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}
