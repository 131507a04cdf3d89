//! Attacks on what clients share of their images, with the images themselves under as much noise for
//! comparison. FedFed, section 4.4 and Appendix F.
//!
//! Departs:
//! - Inversion: the attackers are every second client, who know their own pairs; their network is a
//!   residual one that is trained on these, without the paper's adversarial game.
//! - Membership: a threshold on the largest probability, which a shadow model gives, where the paper
//!   trains a network on the largest ones.

mod inversion;
mod membership;

use fedround_data::rng::words;
use fedround_passes::fed::{NoiseKind, Unit, mechanisms};

pub(super) use inversion::Inversion;
pub(super) use membership::Membership;

use super::Subject;
use super::models::{inputs, sizes};
use super::record::Shared;
use crate::cli::error::CliError;
use crate::cli::sheet::{self, Pixels};

/// The key of the noise on inputs.
const NOISE: u64 = 61;

/// What the attacks came to.
pub(super) struct Attacked {
    pub file: Option<String>,
    pub inversion: Vec<Inversion>,
    pub membership: Vec<Membership>,
}

/// Images of some clients as they were shared, a row for each example.
struct Pool {
    name: String,
    rows: Vec<f32>,
}

/// Examples that something was shared of.
struct Known {
    /// Their indices, one client's after another's, and where each client's begin.
    indices: Vec<usize>,
    starts: Vec<usize>,
    x: Vec<f32>,
    shape: [usize; 3],
}

impl Subject<'_> {
    /// Attacks the images that clients shared.
    pub fn attack(&self) -> Result<Attacked, CliError> {
        let examples = &self.simulation.federation().examples;
        let images = |s: &&Shared| {
            let mut tensors = s.clients.values();
            let fits = tensors.all(|t| sizes(t).1 == examples.features());
            s.sent && s.in_order && !s.labels && fits && s.clients.len() > 1
        };
        let shared = self.record.shared().find(images);
        let Some(shared) = shared.filter(|_| self.are_images()) else {
            let spec = self.settings.spec.clone();
            return Err(CliError::NothingShared { spec });
        };
        let (known, pools) = self.pools(shared)?;
        let mut rows: Vec<Vec<Pixels>> = vec![];
        let (mut inversion, mut membership) = (vec![], vec![]);
        for pool in &pools {
            inversion.push(self.invert(&known, pool, &mut rows)?);
            membership.push(self.tell_members(&known, pool)?);
        }
        let file = "inversion.png".to_owned();
        let path = self.dir.join(&file);
        sheet::save(&path, &rows, known.shape).map_err(|error| CliError::Draw {
            path,
            message: error.to_string(),
        })?;
        Ok(Attacked {
            file: Some(file),
            inversion,
            membership,
        })
    }

    /// What was shared, and the inputs under the same noise: of the same size, and of the size that
    /// hides them as well.
    fn pools(&self, shared: &Shared) -> Result<(Known, Vec<Pool>), CliError> {
        let federation = self.simulation.federation();
        let (mut indices, mut starts, mut rows) = (vec![], vec![], vec![]);
        for (&k, tensor) in &shared.clients {
            starts.push(indices.len());
            indices.extend_from_slice(&federation.parts[k]);
            rows.extend_from_slice(&tensor.values);
        }
        let known = Known {
            x: inputs(&federation.examples, &indices)?,
            indices,
            starts,
            shape: federation.examples.input_shape()?,
        };
        let mut pools = vec![Pool {
            name: shared.name.clone(),
            rows,
        }];
        let program = self.simulation.program().at(shared.round);
        let of_rows = mechanisms(program.linked());
        let Some(used) = of_rows.iter().find(|m| m.unit == Unit::Row && !m.central) else {
            return Ok((known, pools));
        };
        let width = federation.examples.features();
        let norm = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let longest = known.x.chunks(width).map(norm).fold(0.0, f64::max);
        let equal = used.scale * longest / used.bound;
        for (scale, what) in [
            (used.scale, "the same noise"),
            (equal, "noise of the same ε"),
        ] {
            let mut stream = words(federation.seed, &[NOISE]);
            let mut draw = || match used.noise {
                NoiseKind::Gaussian => stream.normal(),
                NoiseKind::Laplace => {
                    let u = stream.range(-0.5, 0.5);
                    -u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
                }
            };
            let noised = known.x.iter().map(|x| x + (scale * draw()) as f32);
            pools.push(Pool {
                name: format!("inputs under {what} ({scale:.2})"),
                rows: noised.collect(),
            });
        }
        Ok((known, pools))
    }
}
