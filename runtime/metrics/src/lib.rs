//! Metrics of federated learning: functions over slices, in double precision.
//!
//! | module | what |
//! |---|---|
//! | [`classification`] | accuracy, per class and balanced; ROC AUC; predictions of one model or of an ensemble |
//! | [`bleu`] | corpus BLEU-1 to BLEU-4 |
//! | [`vqa`] | the accuracy of visual question answering |
//! | [`clients`] | a number per client: mean, spread, worst tenth |
//! | [`progress`] | rounds and bytes to a target |
//! | [`models`] | the variance of local models |
//! | [`correlation`] | distance correlation |
//! | [`images`] | PSNR |
//! | [`privacy`] | ε of Gaussian and Laplace noise, and of several mechanisms together |
//! | [`accountant`] | ε of training with noise on sums of clipped gradients |
//! | [`features`] | Fréchet distance of feature vectors, principal components for pictures |
//!
//! Fractions are in `[0, 1]`, not percent.

pub mod accountant;
pub mod bleu;
pub mod classification;
pub mod clients;
pub mod correlation;
mod error;
pub mod features;
pub mod images;
pub mod models;
pub mod privacy;
pub mod progress;
mod rows;
pub mod vqa;

pub use error::MetricError;
pub use rows::Rows;
