//! Errors of what a program brings to an experiment: the examples of clients and parties, and the model.

/// What a program brings to an experiment does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A share of the training examples is to be public, and they were dealt by hand.
    #[error(
        "a public share is drawn before examples are dealt, and these are dealt already; give public examples with `Experiment::public_examples`"
    )]
    PublicShareOfSplits,
    /// A share of the training examples is to be public, and they are one party's own.
    #[error(
        "a public share is drawn from the dataset of the whole federation, and the examples here are one party's own; give public examples with `Experiment::public_examples`"
    )]
    PublicShareOfParty,
    /// Public examples are given, and a share of the training examples is to be public, too.
    #[error(
        "public examples are given, and a public share of the training examples is asked for as well; leave one of them out"
    )]
    PublicTwice,
    /// There are no examples among the public ones.
    #[error("public examples: expected at least 1, found 0; without any, do not give them")]
    NoPublicExamples,
    /// A party is to have a client that the federation does not have.
    #[error(
        "client {client} of a party: expected a number below the federation's {clients} clients"
    )]
    PartyClient {
        /// Its number.
        client: usize,
        /// How many clients the federation has.
        clients: usize,
    },
    /// A party is to have a client twice.
    #[error("client {client} is named twice among the clients of a party; name each client once")]
    PartyClientTwice {
        /// Its number.
        client: usize,
    },
    /// A client is given an example that the dataset does not have.
    #[error(
        "splits: `{part}` of client {client} has the index {index}, and the dataset has {examples} {of} examples, numbered from 0"
    )]
    SplitIndex {
        /// The client.
        client: usize,
        /// `train`, `validation` or `test`.
        part: &'static str,
        /// The index.
        index: usize,
        /// How many examples there are.
        examples: usize,
        /// `training` or `test`.
        of: &'static str,
    },
    /// A classifier does not give a number for each class.
    #[error(
        "model `{model}`: `forward` gives a tensor of shape {found:?} for one example, expected [1, {classes}], a number for each of the data's {classes} classes"
    )]
    Outputs {
        /// The model.
        model: String,
        /// How many classes the data has.
        classes: usize,
        /// The shape that was found.
        found: Vec<usize>,
    },
    /// A language model does not give a number for each token at each place.
    #[error(
        "model `{model}`: `forward` gives a tensor of shape {found:?} for one example, expected [1, {places}, tokens], with at least {tokens} tokens: \
         `{column}` has {places} places and ids up to {}",
        tokens.saturating_sub(1)
    )]
    TokenOutputs {
        /// The model.
        model: String,
        /// The column of tokens.
        column: String,
        /// How many tokens an example has.
        places: usize,
        /// One more than the largest id of the examples.
        tokens: usize,
        /// The shape that was found.
        found: Vec<usize>,
    },
    /// Examples have other columns than those of the data.
    #[error(
        "{examples} need the column `{column}` as the data has it, {expected}; found {}",
        found.as_deref().unwrap_or("no such column")
    )]
    Column {
        /// `public examples` or `examples to predict`.
        examples: &'static str,
        /// The column's name.
        column: String,
        /// The elements and the shape of the data's column.
        expected: String,
        /// The elements and the shape of the examples' column, where there is one.
        found: Option<String>,
    },
    /// A token is not one that the model has a vector for.
    #[error(
        "`tokens` of {examples}: example {index} has the id {found}, and model `{model}` has ids from 0 to {}, one for each {of} of the data",
        tokens.saturating_sub(1)
    )]
    Token {
        /// `training examples`, `test examples`, `public examples` or `examples to predict`.
        examples: &'static str,
        /// Which one of them.
        index: usize,
        /// The id.
        found: i32,
        /// The model.
        model: String,
        /// How many ids the model has.
        tokens: usize,
        /// `class` or `word`.
        of: &'static str,
    },
    /// A layer of the algorithm does nothing in any round and in no evaluation.
    #[error("`{layer}` has no effect in this algorithm: {}", why_idle(layer, hooks, replaced_by.as_deref()))]
    IdleLayer {
        /// The layer's algorithm.
        layer: String,
        /// The hooks that it defines.
        hooks: Vec<String>,
        /// A layer around it that replaces one of them, and around which it would have an effect.
        replaced_by: Option<String>,
    },
    /// Two clients have an example that is rotated for one of them.
    #[error(
        "splits: clients {first} and {second} share training example {example} with different rotations of its image; give both the same rotation, or each its own copy of the example"
    )]
    Rotations {
        /// The example.
        example: usize,
        /// A client that has it.
        first: usize,
        /// Another one.
        second: usize,
    },
}

/// Why a layer does nothing, and what helps.
fn why_idle(layer: &str, hooks: &[String], replaced_by: Option<&str>) -> String {
    let hooks: Vec<String> = hooks.iter().map(|hook| format!("`{hook}`")).collect();
    let hooks = hooks.join(", ");
    match replaced_by {
        Some(outer) => format!(
            "no other layer calls its {hooks}, because `{outer}` is around it; leave it out, or write it around `{outer}`, as in {layer}({outer})"
        ),
        None => format!(
            "no other layer calls its {hooks}; leave it out, or combine it with algorithms that do"
        ),
    }
}
