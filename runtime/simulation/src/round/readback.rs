//! Reads the numbers of a round from the device, once when the round ends: each read waits until the GPU has done
//! all its work.

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::{finite, finite_sums, read_all};

use super::RoundStats;
use super::progress::Readback;
use super::server::Server;
use crate::error::RunError;
use crate::non_finite::Diverged;

impl Server<'_> {
    /// Ends the round: reads losses and the server's numbers, and checks that the new parameters and all states
    /// that the round has set are finite.
    pub fn finish(mut self, params: &[DispatchTensor]) -> Result<RoundStats, RunError> {
        let round = self.cx.round;
        let diverged = || RunError::Diverged {
            round,
            what: Diverged::Round,
        };
        let results = params.iter().chain(self.state.set_in_round());
        let sums = finite_sums(results).ok_or_else(diverged)?;
        let Readback {
            losses: mut tensors,
            mut server_losses,
            numbers,
        } = std::mem::take(&mut self.readback);
        let (names, numbers): (Vec<_>, Vec<_>) = numbers.into_iter().unzip();
        let client_losses = ..tensors.len();
        let of_server = tensors.len()..tensors.len() + server_losses.len();
        let server_numbers = of_server.end..of_server.end + numbers.len();
        tensors.append(&mut server_losses);
        tensors.extend(numbers);
        tensors.extend(sums);
        let read = read_all(tensors)?;
        let (client_losses, server_losses) = (&read[client_losses], &read[of_server]);
        let train_loss = mean(client_losses.iter().flatten());
        let server_loss = mean(server_losses.iter().flatten());
        let are_finite = (client_losses.is_empty() || train_loss.is_finite())
            && (server_losses.is_empty() || server_loss.is_finite());
        let sums = &read[server_numbers.end..];
        if !are_finite || !sums.iter().all(|sum| finite(sum)) {
            return Err(diverged());
        }
        let numbers = read[server_numbers].iter().flatten().copied();
        let numbers = names.into_iter().zip(numbers.map(f64::from));
        self.stats.server_numbers = numbers.collect();
        self.stats.train_loss = train_loss;
        Ok(self.stats)
    }
}

/// The mean of losses; NaN if there are none.
fn mean<'l>(losses: impl Iterator<Item = &'l f32> + Clone) -> f64 {
    let n = losses.clone().count();
    losses.copied().map(f64::from).sum::<f64>() / n as f64
}
