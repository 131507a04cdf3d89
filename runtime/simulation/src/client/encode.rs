//! `fed.encode`: what clients upload goes through the bytes of a codec. The code after it has what the
//! server decodes.

use burn::tensor::DispatchTensor;
use fedround_codec::Leaf;
use fedround_exec::tensor::{from_floats, read_all};
use fedround_ir::fed::{Encoding, Op, Value};
use fedround_passes::fed::codec;
use fedround_passes::lowering::Frontend;
use fedround_random::{Purpose, StreamKey};

use super::Clients;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::Walker;
use crate::value::{Env, RtVal};

impl Clients<'_> {
    /// Encodes each client's parameters on the host, and keeps the bytes for a party that sends them.
    pub(super) fn encode(
        &mut self,
        op: &Op,
        encoding: Encoding,
        env: &mut Env,
        last: &[Value],
    ) -> Result<RtVal, RunError> {
        let program = self.cx.program;
        let setting = op.operands.get(1).map_or(Some(0.0), |v| program.real(*v));
        let codec = codec(encoding, setting.ok_or_else(|| missing(op, "setting"))?);
        let value = env.read(op.operands[0], last);
        let each = matches!(value, Some(RtVal::Each(_)));
        let Some(RtVal::Params(leaves)) = value.as_ref().map(RtVal::unwrapped) else {
            return Err(missing(op, "parameters"));
        };
        let parameters = program.model().parameters();
        let shapes: Vec<&[usize]> = parameters.iter().map(|(_, ty)| &ty.shape[..]).collect();
        let values = read_all(leaves.clone())?;
        let clients = self.ids.len();
        let mut decoded: Vec<Vec<f32>> = values.iter().map(|_| vec![]).collect();
        let mut sent = Vec::with_capacity(clients);
        for (k, key) in self.keys(encoding).into_iter().enumerate() {
            let own = |values: &'_ Vec<f32>| match each {
                true => k * (values.len() / clients)..(k + 1) * (values.len() / clients),
                false => 0..values.len(),
            };
            let leaves = shapes.iter().zip(&values).map(|(shape, values)| Leaf {
                shape,
                values: &values[own(values)],
            });
            let bytes = codec.encode(&leaves.collect::<Vec<_>>(), key);
            let received = codec.decode(&bytes, &shapes)?;
            for (all, own) in decoded.iter_mut().zip(received) {
                all.extend(own);
            }
            sent.push(bytes.into());
        }
        self.encoded
            .extend(op.results.iter().map(|v| (*v, sent.clone())));
        let grouped = each || clients > 1;
        let tensors = decoded.into_iter().zip(&shapes).map(|(values, shape)| {
            let shape = match grouped {
                true => [&[clients], *shape].concat(),
                false => shape.to_vec(),
            };
            from_floats(values, &shape, program.device())
        });
        let decoded: Vec<DispatchTensor> = tensors.collect();
        Ok(match grouped {
            true => RtVal::each(RtVal::Params(decoded)),
            false => RtVal::Params(decoded),
        })
    }

    /// A key for each client, of which codecs that draw nothing make no use.
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
