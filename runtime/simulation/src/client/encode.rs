//! `fed.encode`: compresses what clients upload by a codec. The code after it continues with the decoded values, so
//! that it sees what the server will see.

use fedround_codec::Leaf;
use fedround_exec::tensor::{from_floats, read_all};
use fedround_ir::fed::{Encoding, Op, Value};
use fedround_passes::fed::codec;
use fedround_passes::lowering::Frontend;
use fedround_random::{Purpose, StreamKey};

use super::ClientGroup;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::Interpreter;
use crate::value::{Env, RuntimeValue};

impl ClientGroup<'_> {
    /// Encodes and decodes each client's parameters in host memory. The encoded bytes are kept for a party, which sends
    /// them.
    pub(super) fn encode(
        &mut self,
        op: &Op,
        encoding: Encoding,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<RuntimeValue, RunError> {
        let program = self.cx.program;
        let setting = op.operands.get(1).map_or(Some(0.0), |v| program.real(*v));
        let codec = codec(encoding, setting.ok_or_else(|| missing(op, "setting"))?);
        let value = env.read(op.operands[0], last_uses);
        let is_stacked = matches!(value, Some(RuntimeValue::Stacked(_)));
        let Some(RuntimeValue::Params(leaves)) = value.as_ref().map(RuntimeValue::inner) else {
            return Err(missing(op, "parameters"));
        };
        let parameters = program.model().parameters();
        let shapes: Vec<&[usize]> = parameters.iter().map(|(_, ty)| &ty.shape[..]).collect();
        let values = read_all(leaves.clone())?;
        let clients = self.ids.len();
        let mut decoded: Vec<Vec<f32>> = values.iter().map(|_| vec![]).collect();
        let mut sent = Vec::with_capacity(clients);
        for (k, key) in self.keys(encoding).into_iter().enumerate() {
            let range_of_client = |values: &'_ Vec<f32>| match is_stacked {
                true => k * (values.len() / clients)..(k + 1) * (values.len() / clients),
                false => 0..values.len(),
            };
            let leaves = shapes.iter().zip(&values).map(|(shape, values)| Leaf {
                shape,
                values: &values[range_of_client(values)],
            });
            let bytes = codec.encode(&leaves.collect::<Vec<_>>(), key);
            let received = codec.decode(&bytes, &shapes)?;
            for (leaf, values) in decoded.iter_mut().zip(received) {
                leaf.extend(values);
            }
            sent.push(bytes.into());
        }
        self.encoded
            .extend(op.results.iter().map(|v| (*v, sent.clone())));
        let grouped = is_stacked || clients > 1;
        let tensors = decoded.into_iter().zip(&shapes).map(|(values, shape)| {
            let shape = match grouped {
                true => [&[clients], *shape].concat(),
                false => shape.to_vec(),
            };
            from_floats(values, &shape, program.device())
        });
        let decoded = RuntimeValue::Params(tensors.collect());
        Ok(RuntimeValue::stacked_if(grouped, decoded))
    }

    /// A random key for each client. Codecs that draw no random numbers ignore it.
    fn keys(&mut self, encoding: Encoding) -> Vec<StreamKey> {
        match encoding {
            Encoding::RandomK
            | Encoding::UnscaledRandomK
            | Encoding::Quantize
            | Encoding::LowRank => self.draw_keys(Purpose::Encoding),
            Encoding::TopK | Encoding::Sign => {
                vec![self.cx.key(Purpose::Encoding); self.ids.len()]
            }
        }
    }
}
