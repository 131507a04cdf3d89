//! Attacks on the values that clients share of their images, compared with attacks on the images themselves
//! under as much noise. FedFed, section 4.4 and Appendix F.
//!
//! Departs:
//! - Inversion: the attackers are every second client, who know their own pairs; their network is a
//!   residual one that is trained on these, without the paper's adversarial game.
//! - Membership: a threshold on the largest probability, which a shadow model gives, where the paper
//!   trains a network on the largest ones.

mod inversion;
mod membership;
mod rebuild;

use std::ops::Range;

use fedround::experiment::Run;
use fedround_exec::Program;
use fedround_ir::fed::Kind;
use fedround_passes::fed::{NoiseKind, Unit, mechanisms};
use fedround_passes::report::{Direction, Wire, wire};
use fedround_random::{Purpose, StreamKey};

pub(super) use inversion::Inversion;
pub(super) use membership::Membership;

use super::observations::{Shared, sizes};
use crate::drawing::contact_sheet::{self, Pixels};
use crate::error::CliError;
use crate::inspect::subject::Subject;

/// What the attacks came to.
pub(super) struct Attacked {
    pub file: String,
    pub inversion: Vec<Inversion>,
    /// Nothing where no client trained in the last phase.
    pub membership: Option<Membership>,
}

/// Images of some clients as they were shared, a row for each example.
struct Pool {
    name: String,
    rows: Vec<f32>,
}

/// Examples that something was shared of.
struct Known {
    /// Their indices, one client's after another's.
    indices: Vec<usize>,
    /// The clients, each with its rows among these.
    clients: Vec<(usize, Range<usize>)>,
    x: Vec<f32>,
    shape: [usize; 3],
}

/// Fails where there will be nothing to attack: where clients release no features, or their rows are
/// of images that are not the same each time.
pub(super) fn check(spec: &str, run: &Run) -> Result<(), CliError> {
    let augment = &run.settings().augment;
    if augment.is_random() {
        let augment = augment.to_string();
        return Err(CliError::RandomImages { augment });
    }
    let released = |row: &Wire| {
        let features = row.direction == Direction::Up && row.kind == Kind::Tensor;
        features && !row.protection.released.is_empty()
    };
    let sends = |program: &Program| wire(program.linked()).iter().any(released);
    let sends = run
        .program()
        .phases()
        .into_iter()
        .any(|(_, phase)| sends(phase));
    match sends && run.data().train.image_shape().is_ok() {
        true => Ok(()),
        false => Err(CliError::NothingShared {
            spec: spec.to_owned(),
        }),
    }
}

impl Subject<'_> {
    /// Attacks the images that clients shared.
    pub fn attack(&self) -> Result<Attacked, CliError> {
        let width = self.run.width()?;
        let images = |s: &&Shared| {
            let mut tensors = s.clients.values();
            let fits = tensors.all(|t| sizes(t).1 == width);
            s.sent && s.in_order && !s.labels && fits && s.clients.len() > 1
        };
        let shared = self.observations.shared().find(images);
        let Some(shared) = shared.filter(|_| self.are_images()) else {
            let spec = self.spec.to_owned();
            return Err(CliError::NothingShared { spec });
        };
        let (known, pools) = self.pools(shared)?;
        let mut rows: Vec<Vec<Pixels>> = vec![];
        let (mut inversion, mut membership) = (vec![], self.members(&known)?);
        for pool in &pools {
            inversion.push(self.invert(&known, pool, &mut rows)?);
            if let Some(membership) = &mut membership {
                self.tell_members(&known, pool, membership)?;
            }
        }
        let file = "inversion.png".to_owned();
        let path = self.dir.join(&file);
        contact_sheet::save(&path, &rows, known.shape)?;
        Ok(Attacked {
            file,
            inversion,
            membership,
        })
    }

    /// What was shared, and the inputs under the same noise: of the same size, and of the size that
    /// hides them as well.
    fn pools(&self, shared: &Shared) -> Result<(Known, Vec<Pool>), CliError> {
        let dataset = self.run.simulation().dataset();
        let (mut indices, mut clients, mut rows) = (vec![], vec![], vec![]);
        for (&k, tensor) in &shared.clients {
            let start = indices.len();
            indices.extend_from_slice(&dataset.client_indices[k]);
            clients.push((k, start..indices.len()));
            rows.extend_from_slice(&tensor.values);
        }
        let known = Known {
            x: self.run.inputs(&dataset.examples, &indices)?,
            indices,
            clients,
            shape: self.run.shape()?,
        };
        let mut pools = vec![Pool {
            name: shared.name.clone(),
            rows,
        }];
        let program = self.run.simulation().program().at(shared.round);
        let found = mechanisms(program.linked()).known;
        let Some(used) = found.iter().find(|m| m.unit == Unit::Row && !m.central) else {
            return Ok((known, pools));
        };
        let width = self.run.width()?;
        let norm = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let longest = known.x.chunks(width).map(norm).fold(0.0, f64::max);
        let equal = used.scale * longest / used.bound;
        for (scale, what) in [
            (used.scale, "the same noise"),
            (equal, "noise of the same ε"),
        ] {
            let mut stream =
                StreamKey::new(self.run.simulation().seed(), Purpose::InputNoise).stream();
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
