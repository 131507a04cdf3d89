//! Checks that the result of `fed.consensus`, a measurement that nobody receives, is only returned.

use super::super::{Broken, FedOp, Module, Op, OpKind, VerifyError};
use super::error;

/// 20. The result of a `fed.consensus` is nothing but the round's result, and a round that returns one reads
///     no more of its argument: nothing was sent by which anyone could know it.
pub(super) fn measurements_stay(module: &Module) -> Vec<VerifyError> {
    let mut errors = vec![];
    for func in &module.funcs {
        let ops = || func.body.all_ops();
        let measured = ops().filter(|op| op.kind == OpKind::Fed(FedOp::Consensus));
        for op in measured {
            let reads = |other: &Op| {
                let mut of_it = op.results.iter().chain(&func.body.args);
                of_it.any(|v| other.operands.contains(v))
            };
            let returned = func.body.yields.iter().any(|v| op.results.contains(v));
            if !returned || ops().any(reads) {
                errors.push(error(op, Broken::Measured));
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use crate::fed::{parse, verify_linked};

    const TEXT: &str = include_str!("../../../tests/texts/peers.fed");

    /// What is said about the text in which `from` is `to`.
    fn error(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        parse(&TEXT.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_with_a_mix_is_said() {
        let cases = [
            // Clients send parameters and numbers of their own.
            (
                "fed.mix \"ring\" %6 : {params}",
                "fed.mix \"ring\" %8 : {tensor}",
                "expected operands ({params}@clients), found ({tensor}@clients)",
            ),
            (
                "fed.mix \"ring\" %6",
                "fed.mix \"ring\" %w",
                "expected operands ({params}@clients), found (params@server)",
            ),
            // Weights stand behind the values, and only a matrix has some.
            (
                "fed.mix \"matrix\" %21, %22, %19",
                "fed.mix \"matrix\" %21, %19, %22",
                "expected operands ({params}@clients, {params}@clients, tensor@server)",
            ),
            (
                "fed.mix \"pairs\" %23 :",
                "fed.mix \"pairs\" %23, %19 :",
                "expected operands ({params}@clients, {params}@clients)",
            ),
            ("\"regular\" 3", "\"regular\"", "a count below 2^31"),
            ("\"pairs\"", "\"pair\"", "did you mean `\"pairs\"`?"),
            // A mix is of one cohort, and of the server's code.
            (
                "[0.5, 0.5, 0.25, 0.75]",
                "[0.5, 0.5, 0.25]",
                "expected rows of 2 finite numbers, found 3 in all",
            ),
            (
                "2 [0.5",
                "0 [0.5",
                "expected rows of 0 finite numbers, found 4 in all",
            ),
            ("0.75]", "inf]", "expected"),
            (
                "%13 = fed.round_index : f32",
                "%99 = fed.matrix 1 [1.0] : tensor\n      %13 = fed.round_index : f32",
                "runs on the server",
            ),
        ];
        for (from, to, said) in cases {
            let error = error(from, to);
            assert!(error.contains(said), "{to}: {error}");
        }
    }

    /// Reads what clients mixed, in a round that is linked.
    fn linked(last: &str) -> Result<(), String> {
        let text = format!(
            "// fedround fed v1\nfed.algorithm @peers() {{\n  fed.round(%w: params@server) {{\n    \
             %0 = fed.all_clients : cohort@server\n    %1 = fed.initial_params 0 : params@server\n    \
             %2 = fed.broadcast %1 to %0 : {{params}}@clients\n    \
             %3 = fed.mix \"pairs\" %2 : {{params}}@clients\n    \
             %4 = fed.consensus %3 : params@server\n{last}  }}\n}}\n"
        );
        let module = parse(&text).map_err(|error| error.to_string())?;
        verify_linked(&module).map_err(|error| error.to_string())
    }

    #[test]
    fn a_measurement_is_only_returned() {
        linked("    fed.yield %4 : params@server\n").unwrap();
        let error =
            linked("    %5 = tree.add %4, %4 : params@server\n    fed.yield %5 : params@server\n");
        let error = error.unwrap_err();
        assert!(error.contains("is only a measurement"), "{error}");
    }
}
