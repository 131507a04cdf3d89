//! Names and values of hyper-parameters.

use std::fmt;

use super::Kind;

/// A hyper-parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum HyperValue {
    /// A real number.
    Float(f64),
    /// A count.
    Int(usize),
    /// A switch. Code branches on it while the graph is built.
    Bool(bool),
    /// A choice. Code branches on it while the graph is built.
    Text(String),
}

/// A hyper-parameter that the graph reads by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyper {
    /// The name, such as `fedprox.mu`, which is unique in the module.
    pub name: String,
    /// Index of the declaring layer.
    pub layer: usize,
    /// The value in this program, a `Float` or an `Int`.
    pub value: HyperValue,
}

impl HyperValue {
    /// The kind of its value in a graph: [`Kind::Scalar`] or [`Kind::Index`]. `None` for switches and
    /// choices, which are not part of a graph.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Float(_) => Some(Kind::Scalar),
            Self::Int(_) => Some(Kind::Index),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// A number, or a count as one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Float(x) => Some(*x),
            Self::Int(n) => Some(*n as f64),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// A count.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Float(_) | Self::Bool(_) | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for HyperValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(x) => write!(f, "{x}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Text(t) => f.write_str(t),
        }
    }
}

impl Hyper {
    /// The name without its layer: `mu` of `fedprox.mu`.
    pub fn field(&self) -> &str {
        self.name
            .rsplit_once('.')
            .map_or(&self.name, |(_, field)| field)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Module;
    use super::*;

    fn hyper(name: &str) -> Hyper {
        Hyper {
            name: name.into(),
            layer: 0,
            value: HyperValue::Float(1.0),
        }
    }

    #[test]
    fn a_unique_field_needs_no_layer() {
        let module = Module {
            hypers: vec![hyper("fedprox.mu"), hyper("fedprox.mu_2")],
            ..Module::default()
        };
        assert_eq!(module.hyper_label(0), "mu");
        assert_eq!(module.hyper_label(1), "mu_2");
    }

    #[test]
    fn a_shared_or_reserved_field_keeps_its_layer() {
        let module = Module {
            hypers: vec![hyper("fedavg.lr"), hyper("server_lr.lr"), hyper("fedavg.w")],
            ..Module::default()
        };
        assert_eq!(module.hyper_label(0), "fedavg.lr");
        assert_eq!(module.hyper_label(1), "server_lr.lr");
        assert_eq!(module.hyper_label(2), "fedavg.w");
    }
}
