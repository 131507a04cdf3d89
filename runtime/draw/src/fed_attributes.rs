//! Attributes of fed ops, for labels and for JSON.

use fedround_ir::fed::{ArithOp, FedOp, Module, OpKind, OptOp, PrivacyOp, Topology, TreeOp};
use serde_json::{Value, json};

/// Names and values, in the order of the text. Kinds of results are in the types of values.
pub(crate) fn fed_attributes(module: &Module, kind: &OpKind) -> Vec<(&'static str, Value)> {
    match kind {
        OpKind::Fed(FedOp::Hyper(index)) => vec![("name", json!(module.hyper_label(*index)))],
        OpKind::Arith(ArithOp::Const(x)) => vec![("value", json!(x))],
        OpKind::Arith(ArithOp::IndexConst(n)) => vec![("value", json!(n))],
        OpKind::Fed(FedOp::Call(hook) | FedOp::Super(hook)) => vec![("hook", json!(hook.name()))],
        OpKind::Fed(
            FedOp::Public(name, _)
            | FedOp::Uniform(name)
            | FedOp::Normal(name)
            | FedOp::Permutation(name),
        ) => vec![("name", json!(name))],
        OpKind::Fed(FedOp::InitialParams(stream)) => vec![("stream", json!(stream))],
        OpKind::Fed(FedOp::Matrix(columns, entries)) => {
            vec![("columns", json!(columns)), ("entries", json!(entries))]
        }
        OpKind::Fed(FedOp::Personal(name, parts)) => {
            vec![("name", json!(name)), ("parts", json!(parts))]
        }
        OpKind::Fed(FedOp::Encode(encoding)) => vec![("codec", json!(encoding.name()))],
        OpKind::Fed(FedOp::Mix(topology)) => {
            let name = ("topology", json!(topology.name()));
            match topology {
                Topology::Regular(degree) => vec![name, ("degree", json!(degree))],
                _ => vec![name],
            }
        }
        OpKind::Opt(OptOp::ForRows(rows)) => vec![("rows", json!(rows))],
        OpKind::Tree(TreeOp::ReplaceParts(parts)) => vec![("parts", json!(parts))],
        OpKind::Privacy(PrivacyOp::Release(reason)) => vec![("reason", json!(reason))],
        OpKind::Privacy(PrivacyOp::Claim(dp)) => vec![("trust", json!(dp.name()))],
        // The rest is in the op's name.
        kind => match kind.state() {
            Some(state) => vec![("name", json!(state.name))],
            None => vec![],
        },
    }
}

/// The op's name with its attributes: `fed.personal fedrep.head [head]`.
pub(crate) fn fed_label(module: &Module, kind: &OpKind) -> String {
    let mut text = kind.name();
    for (name, value) in fed_attributes(module, kind) {
        let told = match (name, value) {
            // A matrix has too many of them for a label.
            ("entries", _) => continue,
            ("parts", Value::Array(parts)) if parts.is_empty() => continue,
            (_, Value::String(text)) => text,
            (_, Value::Array(parts)) => {
                let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                format!("[{}]", parts.join(", "))
            }
            (_, value) => value.to_string(),
        };
        text.push(' ');
        text.push_str(&told);
    }
    text
}

#[cfg(test)]
mod tests {
    use fedround_ir::fed::{Dp, Encoding};

    use super::*;

    #[test]
    fn a_label_has_the_words_of_the_text() {
        let module = Module::default();
        let label = |kind: OpKind| fed_label(&module, &kind);
        let parts = vec!["head".to_owned(), "norm".to_owned()];
        let head = FedOp::Personal("fedrep.head".to_owned(), parts.clone());
        assert_eq!(label(head.into()), "fed.personal fedrep.head [head, norm]");
        let all = FedOp::Personal("solo.w".to_owned(), vec![]);
        assert_eq!(label(all.into()), "fed.personal solo.w");
        let replace = TreeOp::ReplaceParts(parts);
        assert_eq!(label(replace.into()), "tree.replace_parts [head, norm]");
        let release = PrivacyOp::Release("means of classes".to_owned());
        assert_eq!(label(release.into()), "priv.release means of classes");
        let claim = PrivacyOp::Claim(Dp::Central);
        assert_eq!(label(claim.into()), "priv.claim central");
        let mix = FedOp::Mix(Topology::Regular(4));
        assert_eq!(label(mix.into()), "fed.mix regular 4");
        let encode = FedOp::Encode(Encoding::TopK);
        assert_eq!(label(encode.into()), "fed.encode top-k");
        let matrix = FedOp::Matrix(2, vec![1.0; 4]);
        assert_eq!(label(matrix.into()), "fed.matrix 2");
    }
}
