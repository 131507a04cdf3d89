//! The bundled federated algorithms, one spec per file.
//!
//! Each spec reads like its paper's algorithm box; its docs cite the paper, name the equations and
//! list where it departs from them. [`registry`] is what the command knows by name.

mod fed_avg;
mod fed_prox;

pub use fed_avg::FedAvg;
pub use fed_prox::FedProx;

use fedround::{BoxedAlgorithm, Registry};

/// The bundled algorithms by name.
pub fn registry() -> Registry {
    Registry::new()
        .with_type::<FedAvg>()
        .with_type::<FedProx<BoxedAlgorithm>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of code: neither blank, nor comment or doc, nor attribute.
    fn code_lines(source: &str) -> usize {
        let other = ["//", "#["];
        let lines = source.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && !other.iter().any(|o| line.starts_with(o)))
            .count()
    }

    #[test]
    fn specs_fit_on_a_screen() {
        let fed_avg = code_lines(include_str!("fed_avg.rs"));
        let fed_prox = code_lines(include_str!("fed_prox.rs"));
        assert!(fed_avg <= 60, "FedAvg has {fed_avg} code lines");
        assert!(fed_prox <= 25, "FedProx has {fed_prox} code lines");
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
