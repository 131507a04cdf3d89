//! The bundled federated algorithms, one spec per file.
//!
//! Each spec reads like its paper's algorithm box; its docs cite the paper, name the equations and
//! list where it departs from them. [`registry`] is what the command knows by name.

mod adaptive_clip;
mod adcol;
mod adfl;
mod agnostic;
mod centralized;
mod compressed;
mod cyclic;
mod decayed;
mod disentangled;
mod distilled;
mod dp_ftrl;
mod dp_sgd;
mod ef21;
mod fada;
mod fair;
mod fed_aa;
mod fed_async;
mod fed_avg;
mod fed_avg_m;
mod fed_bn;
mod fed_fed;
mod fed_md;
mod fed_nova;
mod fed_opt;
mod fed_prox;
mod fed_rep;
mod fixed_parties;
mod frozen;
mod gradient_weights;
mod hyp_cluster;
mod krum;
mod label_flip;
mod label_overlap;
mod lg_fed_avg;
mod median;
mod mime_lite;
mod moon;
mod older;
mod oort;
mod partial_fed;
mod per_fed_avg;
mod push_sum;
mod representations;
mod scaffold;
mod shared_head;
mod sign_flip;
mod solo;
mod sources;
mod split_learning;
mod trimmed_mean;
mod validated;

pub use adaptive_clip::AdaptiveClip;
pub use adcol::Adcol;
pub use adfl::{Adfl, AdflStart};
pub use agnostic::Agnostic;
pub use centralized::Centralized;
pub use compressed::{Compressed, CompressedCodec};
pub use cyclic::{Cyclic, CyclicOrder};
pub use decayed::Decayed;
pub use disentangled::Disentangled;
pub use distilled::{FedFedNoise, FedFedRecipe};
pub use dp_ftrl::DpFtrl;
pub use dp_sgd::DpSgd;
pub use ef21::Ef21;
pub use fada::Fada;
pub use fair::Fair;
pub use fed_aa::{FedAa, FedAaModality};
pub use fed_async::{FedAsync, FedAsyncWeight};
pub use fed_avg::FedAvg;
pub use fed_avg_m::FedAvgM;
pub use fed_bn::FedBn;
pub use fed_fed::FedFed;
pub use fed_md::FedMd;
pub use fed_nova::{FedNova, FedNovaSteps};
pub use fed_opt::{FedOpt, FedOptRule};
pub use fed_prox::FedProx;
pub use fed_rep::{FedRep, FedRepPart};
pub use fixed_parties::FixedParties;
pub use frozen::Frozen;
pub use gradient_weights::GradientWeights;
pub use hyp_cluster::HypCluster;
pub use krum::Krum;
pub use label_flip::LabelFlip;
pub use label_overlap::LabelOverlap;
pub use lg_fed_avg::{LgFedAvg, LgPart, LgTask};
pub use median::Median;
pub use mime_lite::MimeLite;
pub use moon::Moon;
pub use older::{Older, OlderSize};
pub use oort::Oort;
pub use partial_fed::{PartialFed, PartialFedOwn};
pub use per_fed_avg::{PerFedAvg, PerFedAvgVariant};
pub use push_sum::{PushSum, PushSumTopology};
pub use representations::RepresentationNoise;
pub use scaffold::Scaffold;
pub use shared_head::{SharedHead, SharedPart};
pub use sign_flip::SignFlip;
pub use solo::Solo;
pub use sources::SOURCES;
pub use split_learning::SplitLearning;
pub use trimmed_mean::TrimmedMean;
pub use validated::Validated;

use fedround::{BoxedAlgorithm, Registry};

/// The bundled algorithms by name.
pub fn registry() -> Registry {
    Registry::new()
        .with_type::<FedAvg>()
        .with_type::<FedAvgM<BoxedAlgorithm>>()
        .with_type::<FedOpt<BoxedAlgorithm>>()
        .with_type::<FedProx<BoxedAlgorithm>>()
        .with_type::<Scaffold>()
        .with_type::<FedNova>()
        .with_type::<FedBn<BoxedAlgorithm>>()
        .with_type::<Moon<BoxedAlgorithm>>()
        .with_type::<PartialFed<BoxedAlgorithm>>()
        .with_type::<Disentangled<BoxedAlgorithm>>()
        .with_type::<Fada<BoxedAlgorithm>>()
        .with_type::<PerFedAvg>()
        .with_type::<FedRep>()
        .with_type::<Solo>()
        .with_type::<Centralized>()
        .with_type::<FedAa<BoxedAlgorithm>>()
        .with_type::<FedFed<BoxedAlgorithm>>()
        .with_type::<FedMd<BoxedAlgorithm>>()
        .with_type::<FedAsync<BoxedAlgorithm>>()
        .with_type::<Adfl<BoxedAlgorithm>>()
        .with_type::<LabelOverlap<BoxedAlgorithm>>()
        .with_type::<Validated<BoxedAlgorithm>>()
        .with_type::<MimeLite>()
        .with_type::<HypCluster<BoxedAlgorithm>>()
        .with_type::<Oort<BoxedAlgorithm>>()
        .with_type::<LgFedAvg<BoxedAlgorithm>>()
        .with_type::<GradientWeights<BoxedAlgorithm>>()
        .with_type::<Frozen<BoxedAlgorithm>>()
        .with_type::<Decayed<BoxedAlgorithm>>()
        .with_type::<Agnostic<BoxedAlgorithm>>()
        .with_type::<AdaptiveClip<BoxedAlgorithm>>()
        .with_type::<DpFtrl<BoxedAlgorithm>>()
        .with_type::<Krum<BoxedAlgorithm>>()
        .with_type::<Median<BoxedAlgorithm>>()
        .with_type::<TrimmedMean<BoxedAlgorithm>>()
        .with_type::<LabelFlip<BoxedAlgorithm>>()
        .with_type::<SignFlip<BoxedAlgorithm>>()
        .with_type::<Fair<BoxedAlgorithm>>()
        .with_type::<Adcol<BoxedAlgorithm>>()
        .with_type::<Older<BoxedAlgorithm>>()
        .with_type::<SharedHead<BoxedAlgorithm>>()
        .with_type::<DpSgd<BoxedAlgorithm>>()
        .with_type::<FixedParties<BoxedAlgorithm>>()
        .with_type::<Ef21>()
        .with_type::<Compressed<BoxedAlgorithm>>()
        .with_type::<PushSum>()
        .with_type::<Cyclic<BoxedAlgorithm>>()
        .with_type::<SplitLearning>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each spec's file, its text, and how many lines of code it may have.
    const SPECS: &[(&str, &str, usize)] = &[
        ("adaptive_clip", include_str!("adaptive_clip.rs"), 60),
        ("adcol", include_str!("adcol.rs"), 60),
        ("adfl", include_str!("adfl.rs"), 65),
        ("agnostic", include_str!("agnostic.rs"), 40),
        ("centralized", include_str!("centralized.rs"), 40),
        ("compressed", include_str!("compressed.rs"), 50),
        ("cyclic", include_str!("cyclic.rs"), 25),
        ("decayed", include_str!("decayed.rs"), 15),
        ("disentangled", include_str!("disentangled.rs"), 45),
        ("dp_ftrl", include_str!("dp_ftrl.rs"), 60),
        ("dp_sgd", include_str!("dp_sgd.rs"), 30),
        ("ef21", include_str!("ef21.rs"), 30),
        ("fada", include_str!("fada.rs"), 90),
        ("fair", include_str!("fair.rs"), 60),
        ("fed_aa", include_str!("fed_aa.rs"), 95),
        ("fed_async", include_str!("fed_async.rs"), 45),
        ("fed_avg", include_str!("fed_avg.rs"), 40),
        ("fed_avg_m", include_str!("fed_avg_m.rs"), 15),
        ("fed_bn", include_str!("fed_bn.rs"), 15),
        ("fed_fed", include_str!("fed_fed.rs"), 100),
        ("fed_md", include_str!("fed_md.rs"), 55),
        ("fed_nova", include_str!("fed_nova.rs"), 43),
        ("fed_opt", include_str!("fed_opt.rs"), 40),
        ("fed_prox", include_str!("fed_prox.rs"), 15),
        ("fed_rep", include_str!("fed_rep.rs"), 42),
        ("fixed_parties", include_str!("fixed_parties.rs"), 56),
        ("frozen", include_str!("frozen.rs"), 40),
        ("hyp_cluster", include_str!("hyp_cluster.rs"), 60),
        ("oort", include_str!("oort.rs"), 60),
        ("gradient_weights", include_str!("gradient_weights.rs"), 20),
        ("krum", include_str!("krum.rs"), 35),
        ("label_flip", include_str!("label_flip.rs"), 20),
        ("label_overlap", include_str!("label_overlap.rs"), 25),
        ("lg_fed_avg", include_str!("lg_fed_avg.rs"), 62),
        ("median", include_str!("median.rs"), 15),
        ("mime_lite", include_str!("mime_lite.rs"), 40),
        ("moon", include_str!("moon.rs"), 40),
        ("older", include_str!("older.rs"), 53),
        ("partial_fed", include_str!("partial_fed.rs"), 51),
        ("per_fed_avg", include_str!("per_fed_avg.rs"), 40),
        ("push_sum", include_str!("push_sum.rs"), 45),
        ("scaffold", include_str!("scaffold.rs"), 40),
        ("shared_head", include_str!("shared_head.rs"), 30),
        ("sign_flip", include_str!("sign_flip.rs"), 25),
        ("solo", include_str!("solo.rs"), 40),
        ("split_learning", include_str!("split_learning.rs"), 60),
        ("trimmed_mean", include_str!("trimmed_mean.rs"), 15),
        ("validated", include_str!("validated.rs"), 40),
    ];

    /// Lines of code: neither blank, nor comment or doc, nor attribute, nor the list of words that an
    /// option can be.
    fn code_lines(source: &str) -> usize {
        let other = ["//", "#["];
        let mut lines = 0;
        let mut in_words = false;
        for line in source.lines().map(str::trim) {
            in_words |= line.starts_with("pub enum ");
            let is_code = !line.is_empty() && !other.iter().any(|o| line.starts_with(o));
            lines += usize::from(is_code && !in_words);
            in_words &= line != "}";
        }
        lines
    }

    #[test]
    fn specs_are_as_short_as_their_papers_boxes() {
        for (name, source, most) in SPECS {
            let lines = code_lines(source);
            println!("{name:12} {lines:3} of {most}");
            assert!(
                lines <= *most,
                "{name} has {lines} code lines, at most {most}"
            );
        }
    }

    /// The snake case of a struct's name: `FedAvgM` to `fed_avg_m`.
    fn snake_case(name: &str) -> String {
        let mut snake = String::new();
        for c in name.chars() {
            if c.is_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.extend(c.to_lowercase());
        }
        snake
    }

    /// An algorithm has one spelling: its file is named after the struct, and the name that
    /// commands and graphs print is the struct's in lower case, with hyphens between words or none.
    #[test]
    fn an_algorithm_has_one_spelling() {
        for (file, source, _) in SPECS {
            let mut lines = source.lines();
            let line = lines
                .find_map(|line| line.strip_prefix("pub struct "))
                .unwrap();
            let end = line.find(|c: char| !c.is_alphanumeric()).unwrap();
            let name = &line[..end];
            assert_eq!(snake_case(name), *file);
            let registry = registry();
            let mut names = registry.names().into_iter();
            let command = names.find(|n| n.replace('-', "") == name.to_lowercase());
            let command = command.unwrap_or_else(|| panic!("no command is named after {name}"));
            assert_eq!(registry.parse(command).unwrap().name(), command);
        }
        assert_eq!(SPECS.len(), registry().names().len());
    }

    #[test]
    fn every_entry_stages() {
        for name in registry().names() {
            let algorithm = registry().parse(name).unwrap();
            assert!(fedround::validate(&*algorithm).is_ok(), "{name}");
            fedround::stage(&*algorithm).unwrap();
        }
    }

    #[test]
    fn every_entry_cites_its_paper() {
        for entry in registry().entries() {
            assert!(
                entry.doc.contains("<https://"),
                "{}: {}",
                entry.name,
                entry.doc
            );
            assert!(entry.fields.iter().all(|field| !field.doc.is_empty()));
        }
    }
}
