//! Parsing and printing of a [`Partition`].

use std::fmt;
use std::str::FromStr;

use fedround_names::nearest;

use super::{PARTITIONS, Partition, PartitionError, Rotation, info};

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let text = text.trim();
        let Some((base, newcomer)) = text.split_once('+') else {
            return known(text, text, simple);
        };
        let base = base.trim_end().parse::<Self>()?;
        known(text, newcomer, |name, arguments| match (name, arguments) {
            ("rotated", [degrees, examples]) => Some(Self::Rotated {
                base: Box::new(base.clone()),
                rotation: Rotation::degrees(degrees.parse().ok()?)?,
                examples: positive(examples)?,
            }),
            _ => None,
        })
    }
}

/// Parses the name and the arguments in `part` of `text` with `parse`, with errors for an unknown name and
/// for bad arguments.
fn known(
    text: &str,
    part: &str,
    parse: impl Fn(&str, &[&str]) -> Option<Partition>,
) -> Result<Partition, PartitionError> {
    let mut words = part.split(':').map(str::trim);
    let name = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    let Some(kind) = info::find(name) else {
        return Err(PartitionError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, PARTITIONS.iter().map(|p| p.name())),
        });
    };
    parse(name, &arguments).ok_or_else(|| PartitionError::Argument {
        text: text.to_owned(),
        expected: kind.expected,
    })
}

fn simple(name: &str, arguments: &[&str]) -> Option<Partition> {
    Some(match (name, arguments) {
        ("iid", []) => Partition::Iid,
        ("shards", [n]) => Partition::Shards {
            per_client: positive(n)?,
        },
        ("dirichlet", [alpha, min @ ..]) => Partition::Dirichlet {
            alpha: above_zero(alpha)?,
            min: optional(min, positive)?,
        },
        ("quantity", [alpha, min @ ..]) => Partition::Quantity {
            alpha: above_zero(alpha)?,
            min: optional(min, positive)?,
        },
        ("islands", []) => Partition::Islands,
        ("classes", [k]) => Partition::Classes {
            per_client: positive(k)?,
        },
        ("subset", [share]) => Partition::Subset {
            share: above_zero(share).filter(|s| *s <= 1.0)?,
        },
        ("labels", [k, of @ ..]) => Partition::Labels {
            per_client: positive(k)?,
            weights: optional(of, weights)?,
        },
        ("domains", []) => Partition::Domains {
            parts: None,
            most: None,
        },
        ("domains", [parts, most @ ..]) => Partition::Domains {
            parts: Some(positive(parts)?),
            most: optional(most, positive)?,
        },
        ("groups", []) => Partition::Groups,
        ("natural", []) => Partition::Natural,
        ("shared", [n]) => Partition::Shared {
            per_client: positive(n)?,
        },
        _ => return None,
    })
}

/// An argument that may be left out. `None` if it is wrong, or there are several.
fn optional<T>(arguments: &[&str], parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match arguments {
        [] => Some(None),
        [argument] => parse(argument).map(Some),
        _ => None,
    }
}

fn positive(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&n| n > 0)
}

fn above_zero(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|&x: &f64| x.is_finite() && x > 0.0)
}

fn weights(text: &str) -> Option<Vec<f64>> {
    let weight = |w: &str| {
        w.trim()
            .parse()
            .ok()
            .filter(|&w: &f64| w.is_finite() && w >= 0.0)
    };
    text.split(',').map(weight).collect()
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iid => write!(f, "iid"),
            Self::Shards { per_client } => write!(f, "shards:{per_client}"),
            Self::Dirichlet { alpha, min } => {
                write!(f, "dirichlet:{alpha}")?;
                argument(f, min.as_ref())
            }
            Self::Quantity { alpha, min } => {
                write!(f, "quantity:{alpha}")?;
                argument(f, min.as_ref())
            }
            Self::Islands => write!(f, "islands"),
            Self::Classes { per_client } => write!(f, "classes:{per_client}"),
            Self::Subset { share } => write!(f, "subset:{share}"),
            Self::Labels {
                per_client,
                weights,
            } => {
                write!(f, "labels:{per_client}")?;
                let texts = |w: &Vec<f64>| w.iter().map(f64::to_string).collect::<Vec<_>>();
                argument(f, weights.as_ref().map(|w| texts(w).join(",")))
            }
            Self::Domains { parts, most } => {
                write!(f, "domains")?;
                // A maximum without parts cannot be written. The parser refuses the 0.
                argument(f, parts.or(most.map(|_| 0)))?;
                argument(f, most.as_ref())
            }
            Self::Groups => write!(f, "groups"),
            Self::Natural => write!(f, "natural"),
            Self::Shared { per_client } => write!(f, "shared:{per_client}"),
            Self::Rotated {
                base,
                rotation,
                examples,
            } => write!(f, "{base}+rotated:{}:{examples}", rotation.in_degrees()),
        }
    }
}

fn argument(f: &mut fmt::Formatter<'_>, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, ":{value}"))
}
