//! What the host reads of a round when it ends: once, as each read waits for all that the GPU has to do.

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::{finite, finite_sums, read_all};

use super::RoundStats;
use super::server::Server;
use crate::error::RunError;
use crate::non_finite::Diverged;

impl Server<'_> {
    /// Reads back what the host looks at once a round has made new parameters, all together: losses, the
    /// numbers that the server has set, and whether all that the round has made is finite.
    pub fn finish(mut self, params: &[DispatchTensor]) -> Result<RoundStats, RunError> {
        let round = self.cx.round;
        let diverged = || RunError::Diverged {
            round,
            what: Diverged::Round,
        };
        let made = params.iter().chain(self.state.set_in_round());
        let sums = finite_sums(made).ok_or_else(diverged)?;
        let (names, numbers): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.set_numbers).into_iter().unzip();
        let (losses, own) = (self.losses.len(), self.own_losses.len());
        let mut all = std::mem::take(&mut self.losses);
        all.append(&mut self.own_losses);
        let server_numbers = all.len()..all.len() + numbers.len();
        all.extend(numbers);
        all.extend(sums);
        let read = read_all(all)?;
        let mean_of = |losses: &[Vec<f32>]| mean(losses.iter().flatten());
        let (train_loss, own_loss) = (mean_of(&read[..losses]), mean_of(&read[losses..][..own]));
        let are_finite = [(losses, train_loss), (own, own_loss)];
        let are_finite = are_finite
            .iter()
            .all(|(n, loss)| *n == 0 || loss.is_finite());
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

/// The mean of losses, NaN of none.
fn mean<'l>(losses: impl Iterator<Item = &'l f32> + Clone) -> f64 {
    let n = losses.clone().count();
    losses.copied().map(f64::from).sum::<f64>() / n as f64
}
