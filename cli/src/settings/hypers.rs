//! Hyper-parameters from text and from TOML.

use std::fmt;
use std::iter::successors;

use fedround_dsl::{BoxedAlgorithm, Hyper, LayerField, Registry, all_fields, set};
use fedround_ir::fed::HyperValue;
use toml::Value;

use crate::advice::aliases;
use crate::error::CliError;

/// The flag that sets one hyper-parameter.
pub(crate) const SET: &str = "--set";

/// A hyper-parameter's name, with or without its layer, and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub name: String,
    pub value: Given,
}

/// A value before its field's kind is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// From the command line, after this flag.
    Text { text: String, flag: &'static str },
    /// From a file.
    Value(HyperValue),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { text, .. } => f.write_str(text),
            Self::Value(value) => write!(f, "{value}"),
        }
    }
}

impl Setting {
    /// The flag that gave it; `None` of one in a file, which may list all hyper-parameters.
    pub fn flag(&self) -> Option<&'static str> {
        match self.value {
            Given::Text { flag, .. } => Some(flag),
            Given::Value(_) => None,
        }
    }
}

/// The settings of `--set NAME=VALUE`.
pub(crate) fn assignments(texts: &[String]) -> Result<Vec<Setting>, CliError> {
    let setting = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or_else(|| CliError::Assignment(text.clone()))?;
        Ok(Setting {
            name: name.trim().to_owned(),
            value: Given::Text {
                text: value.trim().to_owned(),
                flag: SET,
            },
        })
    };
    texts.iter().map(setting).collect()
}

/// The settings of a file's `[hyper]` table: `mu = 0.1`, `"fedavg.lr" = 0.1`, or a table for a
/// layer.
pub(crate) fn from_toml(table: &toml::Table) -> Result<Vec<Setting>, CliError> {
    let mut settings = vec![];
    for (name, value) in table {
        match value {
            Value::Table(layer) => {
                for (field, value) in layer {
                    settings.push(value_setting(format!("{name}.{field}"), value)?);
                }
            }
            value => settings.push(value_setting(name.clone(), value)?),
        }
    }
    Ok(settings)
}

fn value_setting(name: String, value: &Value) -> Result<Setting, CliError> {
    let value = match value {
        Value::Float(x) => HyperValue::Float(*x),
        // A negative whole number is no count; as a real one it gets the field's own error.
        Value::Integer(n) => {
            usize::try_from(*n).map_or(HyperValue::Float(*n as f64), HyperValue::Int)
        }
        Value::Boolean(b) => HyperValue::Bool(*b),
        Value::String(text) => HyperValue::Text(text.clone()),
        other => {
            return Err(CliError::HyperValue {
                name,
                found: other.type_str(),
            });
        }
    };
    Ok(Setting {
        name,
        value: Given::Value(value),
    })
}

/// The algorithm of a text with its hyper-parameters set, the later setting winning.
pub(crate) fn algorithm(
    registry: &Registry,
    spec: &str,
    settings: &[Setting],
) -> Result<BoxedAlgorithm, CliError> {
    let mut algorithm = registry.parse(spec).map_err(aliases::of_spec)?;
    for setting in settings {
        apply(&mut *algorithm, setting)?;
    }
    Ok(algorithm)
}

/// Sets one hyper-parameter.
pub(crate) fn apply(algorithm: &mut dyn Hyper, setting: &Setting) -> Result<(), CliError> {
    let value = match &setting.value {
        Given::Value(value) => value.clone(),
        Given::Text { text, .. } => match lookup(algorithm, &setting.name) {
            Some(field) => field.field.parse(text)?,
            // `set` says that there is no such field.
            None => HyperValue::Text(text.clone()),
        },
    };
    Ok(set(algorithm, &setting.name, value).map_err(aliases::of_hyper)?)
}

/// Whether an algorithm has a hyper-parameter of this name.
pub(crate) fn has(algorithm: &dyn Hyper, name: &str) -> bool {
    lookup(algorithm, name).is_some()
}

/// The outermost field of a name, as `set` finds it.
pub(crate) fn lookup(algorithm: &dyn Hyper, name: &str) -> Option<LayerField> {
    let (layer, name) = match name.split_once('.') {
        Some((layer, name)) => (Some(layer), name),
        None => (None, name),
    };
    let here = |f: &LayerField| f.field.name == name && layer.is_none_or(|l| l == f.layer);
    all_fields(algorithm).into_iter().find(here)
}

/// Whether `to` takes a hyper-parameter of a file that was written for the algorithm `from`, which is `None` if only
/// its name is known. Layers of different names use the same word for different things, and the file of a run lists
/// every default. A value is therefore taken over between layers of the same name, and between the innermost layers of
/// both algorithms, which train clients with a step size, batches and so on. A name that `from` does not have was
/// written by hand, and is for any algorithm that has it.
pub(crate) fn carries(from: Option<&BoxedAlgorithm>, to: &dyn Hyper, name: &str) -> bool {
    let Some(there) = lookup(to, name) else {
        return false;
    };
    let Some((from, here)) = from.and_then(|from| Some((from, lookup(&**from, name)?))) else {
        return true;
    };
    let in_both_bases = here.layer == innermost(&**from) && there.layer == innermost(to);
    here.layer == there.layer || in_both_bases
}

/// The layers of an algorithm, outermost first.
pub(crate) fn layers(algorithm: &dyn Hyper) -> impl Iterator<Item = &dyn Hyper> {
    successors(Some(algorithm), |layer| layer.base())
}

/// The name of the innermost layer, which may have no hyper-parameters.
fn innermost(algorithm: &dyn Hyper) -> &'static str {
    layers(algorithm).last().unwrap_or(algorithm).name()
}

/// Every hyper-parameter that can be set, by the shortest name that sets it. (A layer that occurs
/// twice is set in its outermost place; the inner one keeps its defaults.)
pub(crate) fn named(algorithm: &dyn Hyper) -> Vec<(String, HyperValue)> {
    let fields = all_fields(algorithm);
    let mut named: Vec<(String, HyperValue)> = vec![];
    for (i, field) in fields.iter().enumerate() {
        let short = field.field.name;
        let hidden = fields[..i].iter().any(|f| f.field.name == short);
        let name = if hidden {
            format!("{}.{short}", field.layer)
        } else {
            short.to_owned()
        };
        let repeated = fields[..i]
            .iter()
            .any(|f| f.field.name == short && f.layer == field.layer);
        if !repeated {
            named.push((name, field.value.clone()));
        }
    }
    named
}

/// A value as TOML.
pub(crate) fn to_toml(value: &HyperValue) -> Value {
    match value {
        HyperValue::Float(x) => Value::Float(*x),
        HyperValue::Int(n) => i64::try_from(*n).map_or(Value::Float(*n as f64), Value::Integer),
        HyperValue::Bool(b) => Value::Boolean(*b),
        HyperValue::Text(text) => Value::String(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_shortest_that_set_the_field() {
        let registry = fedround_algorithms::registry();
        let names = |spec: &str| -> Vec<String> {
            let algorithm = registry.parse(spec).unwrap();
            named(&*algorithm)
                .into_iter()
                .map(|(name, _)| name)
                .collect()
        };
        let base = [
            "fraction",
            "epochs",
            "batch",
            "lr",
            "momentum",
            "weight_decay",
        ];
        let all = [["mu"].as_slice(), &base].concat();
        assert_eq!(names("fedprox"), all);
        assert_eq!(names("fedprox(fedprox)"), all);
    }

    #[test]
    fn a_layer_may_be_a_table_of_its_own() {
        let table: toml::Table = "mu = 1\n[fedavg]\nlr = 0.5".parse().unwrap();
        let mut algorithm = fedround_algorithms::registry().parse("fedprox").unwrap();
        for setting in from_toml(&table).unwrap() {
            apply(&mut *algorithm, &setting).unwrap();
        }
        let values = named(&*algorithm);
        assert_eq!(values[0], ("mu".into(), HyperValue::Float(1.0)));
        assert_eq!(values[4], ("lr".into(), HyperValue::Float(0.5)));
    }

    #[test]
    fn a_file_gives_what_means_the_same() {
        let registry = fedround_algorithms::registry();
        let carried = |from: &str, to: &str, name: &str| {
            let [from, to] = [from, to].map(|spec| registry.parse(spec).unwrap());
            carries(Some(&from), &*to, name)
        };
        for (from, to, name, expected) in [
            // Bases of other names train alike.
            ("fedopt", "scaffold", "lr", true),
            ("fedprox(scaffold)", "moon", "batch", true),
            ("fedavg", "scaffold", "momentum", false),
            // Layers of one name, wherever they are.
            ("fedprox", "fedavgm(fedprox)", "mu", true),
            ("scaffold", "fedprox(scaffold)", "server_lr", true),
            ("fedopt(scaffold)", "scaffold", "scaffold.server_lr", true),
            // Other things of one name.
            ("fedopt", "scaffold", "server_lr", false),
            ("fedopt(scaffold)", "scaffold", "server_lr", false),
            ("fedopt", "fedavgm", "server_lr", false),
            ("fedopt", "moon", "tau", false),
            ("fedprox", "moon", "mu", false),
            ("fednova", "fedprox", "mu", false),
            // Written by hand, for another algorithm than the file's.
            ("fedavg", "fedprox", "mu", true),
            ("fedavg", "fedprox", "nu", false),
        ] {
            assert_eq!(carried(from, to, name), expected, "{from}, {to}: {name}");
        }
        // Nothing is known of the file's algorithm but the name.
        let moon = registry.parse("moon").unwrap();
        assert!(carries(None, &*moon, "tau") && !carries(None, &*moon, "beta"));
    }

    #[test]
    fn assignments_need_a_name() {
        assert!(assignments(&["mu".into()]).is_err());
        assert!(assignments(&["=1".into()]).is_err());
        let settings = assignments(&[" mu = 0.1".into()]).unwrap();
        assert_eq!(settings[0].name, "mu");
        assert_eq!(settings[0].value.to_string(), "0.1");
        assert_eq!(settings[0].flag(), Some(SET));
    }
}
