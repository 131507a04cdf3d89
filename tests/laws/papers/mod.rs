//! Special cases of five papers' specs, cases that were computed by hand, and their bytes on the wire.

mod adaptive_clip;
mod adcol;
mod adcol_noise;
mod adfl;
mod adfl_images;
mod agnostic;
mod decayed;
mod dp_ftrl;
mod dp_sgd;
mod fair;
mod fed_aa;
mod fed_async;
mod fed_fed;
mod fed_fed_recipes;
mod fed_md;
mod fixed_parties;
mod gradient_weights;
mod label_overlap;
mod lg_fed_avg;
mod robust;
mod shared_head;
mod validated;

use fedround::algorithms::{
    Adcol, Adfl, AdflStart, FedAa, FedAaModality, FedAvg, FedFed, FedFedNoise, FedFedRecipe,
    LgFedAvg, LgPart, LgTask, RepresentationNoise, SharedPart, Solo,
};
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{
    Deal, GREY, assert_close, bits, compile_model, dealt, digits, leaves, run, simulation, trained,
    weights,
};

const LR: f32 = 0.1;

/// Parameters of the 2NN, and those of its head.
const ALL: u64 = 199_210;
const HEAD: u64 = 2_010;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr: LR,
        ..FedAvg::default()
    }
}

/// One step on all of a client's examples in an epoch, so that their order is no matter.
fn full_batch() -> FedAvg {
    FedAvg {
        batch: 1000,
        ..base()
    }
}

/// Clients of the given sizes, with few labels each.
fn of_sizes(sizes: &[usize]) -> Deal {
    let data = digits(120, 1).train;
    let mut order: Vec<usize> = (0..120).collect();
    order.sort_by_key(|&i| (data.labels()[i], i));
    let mut rows = order.into_iter();
    let parts = sizes.iter().map(|&n| rows.by_ref().take(n).collect());
    dealt(&data, parts.collect(), 7)
}

/// The greatest difference of two weights.
fn farthest(a: &[f32], b: &[f32]) -> f32 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f32::max)
}

/// The leaves of a network, or of all but it.
fn part(simulation: &Simulation, name: &str, inside: bool) -> Vec<f32> {
    let prefix = format!("{name}.");
    let leaves = simulation.parameters().unwrap().into_iter();
    let own = leaves.filter(|(leaf, ..)| leaf.starts_with(&prefix) == inside);
    own.flat_map(|(_, _, values)| values).collect()
}
