//! Metrics of federated learning, as functions of slices. They compute in double precision and depend on no
//! other crate of fedround.
//!
//! | module | metrics |
//! |---|---|
//! | [`classification`] | accuracy, per class and balanced; ROC AUC; predictions of one model or of an ensemble |
//! | [`bleu`] | corpus BLEU-1 to BLEU-4 |
//! | [`vqa`] | accuracy of visual question answering |
//! | [`clients`] | summary of one number per client: mean, spread, worst tenth |
//! | [`progress`] | rounds and bytes until a target is reached |
//! | [`paired`] | differences of two algorithms over the same seeds: t-intervals, Holm's correction |
//! | [`models`] | variance of local models |
//! | [`correlation`] | distance correlation |
//! | [`images`] | PSNR |
//! | [`passes`] | ε of noise on sums over cohorts in passes, also of a tree (DP-FTRL) |
//! | [`privacy`] | ε of Gaussian and Laplace noise, and of several mechanisms together |
//! | [`accountant`] | ε of training with noise on sums of clipped gradients |
//! | `pld` | the same by the privacy loss distribution: [`accountant::Steps::epsilon_by_losses`] |
//! | [`features`] | Fréchet distance of feature vectors, principal components for pictures |
//!
//! Fractions are in `[0, 1]`, not in percent.

pub mod accountant;
pub mod bleu;
pub mod classification;
pub mod clients;
pub mod correlation;
mod error;
pub mod features;
mod fft;
pub mod images;
pub mod models;
pub mod paired;
pub mod passes;
mod pld;
pub mod privacy;
pub mod progress;
mod rows;
pub mod vqa;

pub use error::MetricError;
pub use rows::Rows;
