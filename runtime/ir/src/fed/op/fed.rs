//! `fed.*`: cohorts, communication between server and clients, states, and calls of hooks.

use super::super::{Hook, Kind};
use super::choice::Choice;
use super::codec::{HookName, ResultKind};
use super::encoding::{Encoding, EncodingName};
use super::reduce::{Pairwise, Reduce};
use super::topology::{Topology, TopologyName};
use crate::text::codecs::{Count, Quoted, QuotedList, Reals};
use crate::text::ops;

/// An op of the federation.
#[derive(Clone, Debug, PartialEq)]
pub enum FedOp {
    /// `fed.hyper "lr"`: `() -> f32 | index`; a hyper-parameter, by its index in [`Module::hypers`](super::super::Module::hypers).
    Hyper(usize),
    /// `fed.round_index`: `() -> f32`; `t`, how many rounds were completed before this one.
    RoundIndex,
    /// `fed.num_clients`: `() -> f32`; `K`, how many clients there are.
    NumClients,
    /// `fed.sample`: `(f32) -> cohort@server`; `max(C·K, 1)` clients without replacement. Or
    /// `(f32, cohort@server) -> cohort@server`; that fraction of a cohort.
    Sample,
    /// `fed.all_clients`: `() -> cohort@server`; all clients.
    AllClients,
    /// `fed.within`: `(index first, index count) -> cohort@server`; the clients with the numbers `first`
    /// to `first + count − 1`.
    Within,
    /// `fed.outside`: `(index first, index count) -> cohort@server`; all other clients.
    Outside,
    /// `fed.rotating`: `(index size, index dropped) -> cohort@server`; `size` clients. In each round,
    /// `dropped` of them are replaced by other clients.
    Rotating,
    /// `fed.reshuffled`: `(index size) -> cohort@server`; the next `size` clients of a random order of all,
    /// which is drawn anew for each pass over it. Each client takes part at most once in a pass.
    Reshuffled,
    /// `fed.sample_by` and kin: a cohort that is chosen from values of the server; see [`Choice`].
    Choose(Choice),
    /// `fed.members`: `(cohort@server) -> {f32}@server`; the number of each client of a cohort, from 0.
    /// Nothing is sent.
    Members,
    /// `fed.cohort_size`: `(cohort@server) -> f32@server`; how many clients a cohort has.
    CohortSize,
    /// `fed.restrict`: `({T}@clients, cohort@server) -> {T}@clients`, or the same over gathered values; the
    /// values of the clients of a cohort, all of whom must have one.
    Restrict,
    /// `fed.nth_largest`: `({f32}@server, f32@server n) -> f32@server`; the `n`-th largest of the numbers,
    /// from 1; of fewer numbers the smallest.
    NthLargest,
    /// `fed.seconds`: `(client@server) -> f32@server`; how long the client takes for a round on the virtual
    /// clock, in seconds; 0 without a clock.
    Seconds,
    /// `fed.uniform "name"`: `() -> f32`, or in a client's code `(client) -> f32`; a number in `[0, 1)` of
    /// a named stream, drawn anew at each use. The draws of one name do not change those of another.
    Uniform(String),
    /// `fed.normal "name"`: as `fed.uniform`, a standard normal number.
    Normal(String),
    /// `fed.permutation "name"`: `(index n) -> labels`, or `(index n, client) -> labels`; the numbers from
    /// 0 to `n − 1` in a random order, of a named stream like that of `fed.uniform`.
    Permutation(String),
    /// `fed.initial_params 1`: `() -> params@server`; initial parameters of the model, drawn from a stream
    /// of that number; those of 0 are the ones that the run begins with.
    InitialParams(usize),
    /// `fed.current_cohort`: `() -> cohort@server`; the cohort that was made last in this round, by this layer
    /// or another. Replaced by `link-hooks` with that cohort.
    CurrentCohort,
    /// `fed.arrivals`: `(index in_flight, index buffer) -> cohort@server`; the next `buffer` clients whose
    /// updates arrive, of `in_flight` clients that train at the same time, in the order of arrival on the
    /// virtual clock. First, clients drawn at random begin, until `in_flight` train.
    Arrivals,
    /// `fed.dispatch`: `(T@server, cohort@server) -> {T}@clients`; to each client of a cohort of
    /// `fed.arrivals` the value as it was in the round in which the client began.
    Dispatch,
    /// `fed.staleness`: `(cohort@server) -> {f32}@server`; for each client of a cohort of
    /// `fed.arrivals`, how many rounds were completed since it began.
    Staleness,
    /// `fed.broadcast`: `(T@server, cohort@server) -> {T}@clients`; one value, to each client.
    Broadcast,
    /// `fed.map`: `({T}@clients…) -> {U}@clients…`; the region's arguments are the client and one
    /// client value for each operand, its yields one client value for each result. A map over gathered
    /// values, `({T}@server…) -> {U}@server…`, runs on the server, once for each client; its code may
    /// also read values of the server that are defined around it.
    Map,
    /// `fed.in_turn`: `(cohort@server, T@server…) -> T@server…`; a loop of the server over the clients of a
    /// cohort, in its order. The region's arguments are the cohort of one client whose turn it is and the
    /// carried values, its yields the next carried values.
    InTurn,
    /// `fed.weighted_mean` and kin: `({T}@clients[, {f32}@clients]) -> T@server`, or the same over
    /// values that were gathered. `fed.median`, `({T}@server) -> T@server`, and `fed.trimmed_mean`,
    /// `({T}@server, f32@server) -> T@server`, are over gathered values alone.
    Reduce(Reduce),
    /// `fed.sq_distances` and `fed.cosines`: `({params | tensor}@server) -> tensor@server`; a number for
    /// each pair of values, `[m, m]`, in the order of the cohort.
    Pairwise(Pairwise),
    /// `fed.split`: `(tensor@server, {T}@server) -> {f32 | tensor}@server`; to each client of the
    /// second operand's cohort, the row of the tensor at its position.
    Split(Kind),
    /// `fed.gather`: `({T}@clients) -> {T}@server`; each client's own value, on the server. Or
    /// `({T}@clients, {U}@server) -> {T}@server`, which ends a visit: for each client that `{U}` has a
    /// value of, the mean over the visited clients.
    Gather,
    /// `fed.scatter`: `({T}@server) -> {T}@clients`; to each client its own value. Or
    /// `({T}@server, cohort@server) -> {T}@clients`, which begins a visit: every value to every client
    /// of the cohort.
    Scatter,
    /// `fed.concat`: `({tensor | labels}@server) -> tensor | labels @server`; the rows of all
    /// clients, in the order of the cohort. Or `({f32}@server) -> tensor@server`, a number of each.
    Concat,
    /// `fed.positions`: `({tensor | labels}@server) -> labels@server`; for each row that `fed.concat`
    /// joins, the position of its client in the cohort, from 0.
    Positions,
    /// `fed.client_labels`: `(client@server, tensor@server) -> labels@server`; the client's number
    /// among all clients, once for each row of the tensor.
    ClientLabels,
    /// `fed.every_class`: `() -> labels`; each class once, in order.
    EveryClass,
    /// `fed.local_classes`: `(client) -> labels`; each class that the client has examples of, once.
    LocalClasses,
    /// `fed.label_counts`: `(client) -> tensor`; how many examples the client has of each class, `[classes]`.
    LabelCounts,
    /// `fed.zero_inputs`: `(tensor | labels) -> tensor`; for each row, an input of the model that is zero.
    ZeroInputs,
    /// `fed.num_examples`: `(client) -> f32`; `n_k`.
    NumExamples,
    /// `fed.client_number`: `(client) -> f32`; its number among all clients, from 0.
    ClientNumber,
    /// `fed.start_params`: `() -> params@server`; `wᵗ`, the server's parameters at the start of the
    /// round. Replaced by `link-hooks` with the argument of `round`.
    StartParams,
    /// `fed.global_params`: `(client) -> params`; what was broadcast to the client this round, the argument
    /// of `round` if there are several. Replaced by `link-hooks` with the argument of the enclosing `fed.map`.
    GlobalParams,
    /// `fed.public "x"`: `() -> tensor | labels`; a column of the public examples, which the server and
    /// every client have, with a row for each. Or `(index n) -> tensor | labels`: `n` rows, drawn anew in
    /// each round, the same ones wherever they are read; all if there are fewer.
    Public(String, Kind),
    /// `fed.server_state "v"`: `() -> T@server`, parameters, a number, a tensor or labels. Zeros at
    /// first; a tensor or labels, of which no shape is known then, must have been set. In code for one
    /// client, `(client@server) -> T@server`: one for each client.
    ServerState(String, Kind),
    /// `fed.server_state_or "v"`: `(T@server first) -> T@server`, or `(client@server, T@server first) ->
    /// T@server`; as `fed.server_state`, but `first` before it is first set.
    ServerStateOr(String),
    /// `fed.set_server_state "v"`: `(T@server) -> ()`, or `(client@server, T@server) -> ()`.
    SetServerState(String),
    /// `fed.client_state "c"`: `(client) -> params | f32 | tensor | labels`; kept between rounds.
    /// Zeros at first; a tensor or labels, of which no shape is known then, must have been set.
    ClientState(String, Kind),
    /// `fed.set_client_state "c"`: `(client, params | f32 | tensor | labels) -> ()`.
    SetClientState(String),
    /// `fed.personal "v" ["head"]`: `(client, T first) -> T`; the client state `v`, or `first` before
    /// it is first set. Its named parts are personal: they may not be uploaded. With parts, `T` is
    /// parameters; without any, all that a client may keep.
    Personal(String, Vec<String>),
    /// `fed.encode "top-k"`: `(params x, f32 | index setting) -> params`; what the server decodes of `x`
    /// as it was encoded. A map's result that is encoded crosses as its bytes. The setting is known
    /// before the round; [`Encoding::Sign`] has none.
    Encode(Encoding),
    /// `fed.matrix 2 [0.5, 0.5, 0.25, 0.75]`: `() -> tensor@server`; a constant of so many columns, row by
    /// row.
    Matrix(usize, Vec<f64>),
    /// `fed.mix "ring"`: `({params | f32}@clients…) -> {params | f32}@clients…`; clients send their values to
    /// each other, and each has the weighted sum of its own and those that it received. All operands take
    /// the same edges. Those of [`Topology::Matrix`] are followed by the weights, `tensor@server`.
    Mix(Topology),
    /// `fed.consensus`: `({params}@clients) -> params@server`; the mean over the clients, as a measurement
    /// of the simulation: nothing is sent, and no client may read it again. A run reports the mean squared
    /// distance from it.
    Consensus,
    /// `fed.call @hook`: a hook's outermost definition; resolved by `link-hooks`.
    Call(Hook),
    /// `fed.super @hook`: the next inner definition; resolved by `link-hooks`.
    Super(Hook),
}

ops! { FedOp {
    "fed.hyper" = Hyper [index: Count];
    "fed.round_index" = RoundIndex [];
    "fed.num_clients" = NumClients [];
    "fed.sample" = Sample [];
    "fed.all_clients" = AllClients [];
    "fed.within" = Within [];
    "fed.outside" = Outside [];
    "fed.rotating" = Rotating [];
    "fed.reshuffled" = Reshuffled [];
    "fed.bernoulli" = Choose (Choice::Bernoulli);
    "fed.sample_by" = Choose (Choice::SampleBy);
    "fed.top" = Choose (Choice::Top);
    "fed.where" = Choose (Choice::Where);
    "fed.union" = Choose (Choice::Union);
    "fed.members" = Members [];
    "fed.cohort_size" = CohortSize [];
    "fed.restrict" = Restrict [];
    "fed.nth_largest" = NthLargest [];
    "fed.seconds" = Seconds [];
    "fed.uniform" = Uniform [name: Quoted];
    "fed.normal" = Normal [name: Quoted];
    "fed.permutation" = Permutation [name: Quoted];
    "fed.initial_params" = InitialParams [stream: Count];
    "fed.current_cohort" = CurrentCohort [];
    "fed.arrivals" = Arrivals [];
    "fed.dispatch" = Dispatch [];
    "fed.staleness" = Staleness [];
    "fed.broadcast" = Broadcast [];
    "fed.map" = Map [];
    "fed.in_turn" = InTurn [];
    "fed.sum" = Reduce (Reduce::Sum);
    "fed.mean" = Reduce (Reduce::Mean);
    "fed.weighted_mean" = Reduce (Reduce::WeightedMean);
    "fed.weighted_sum" = Reduce (Reduce::WeightedSum);
    "fed.median" = Reduce (Reduce::Median);
    "fed.trimmed_mean" = Reduce (Reduce::TrimmedMean);
    "fed.sq_distances" = Pairwise (Pairwise::SqDistances);
    "fed.cosines" = Pairwise (Pairwise::Cosines);
    "fed.split" = Split [kind: ResultKind];
    "fed.gather" = Gather [];
    "fed.scatter" = Scatter [];
    "fed.concat" = Concat [];
    "fed.positions" = Positions [];
    "fed.every_class" = EveryClass [];
    "fed.local_classes" = LocalClasses [];
    "fed.label_counts" = LabelCounts [];
    "fed.zero_inputs" = ZeroInputs [];
    "fed.client_labels" = ClientLabels [];
    "fed.num_examples" = NumExamples [];
    "fed.client_number" = ClientNumber [];
    "fed.start_params" = StartParams [];
    "fed.global_params" = GlobalParams [];
    "fed.public" = Public [name: Quoted, kind: ResultKind];
    "fed.server_state" = ServerState [name: Quoted, kind: ResultKind];
    "fed.server_state_or" = ServerStateOr [name: Quoted];
    "fed.set_server_state" = SetServerState [name: Quoted];
    "fed.client_state" = ClientState [name: Quoted, kind: ResultKind];
    "fed.set_client_state" = SetClientState [name: Quoted];
    "fed.personal" = Personal [name: Quoted, parts: QuotedList];
    "fed.encode" = Encode [encoding: EncodingName];
    "fed.matrix" = Matrix [columns: Count, entries: Reals];
    "fed.mix" = Mix [topology: TopologyName];
    "fed.consensus" = Consensus [];
    "fed.call" = Call [hook: HookName];
    "fed.super" = Super [hook: HookName];
} }
