//! Adds the auxiliary networks that an algorithm needs to a base model.

use std::collections::BTreeMap;

use burn::tensor::Device;

use super::base::representing;
use super::{
    AUXILIARIES, Assembly, Auxiliary, AuxiliaryError, AuxiliaryTask, Base, Part, REPRESENT, Variant,
};
use crate::Model;

/// A model, and what was put beside it.
pub struct Assembled {
    /// The base with all networks.
    pub model: Box<dyn Model>,
    /// The networks' names, with their variants.
    pub auxiliaries: Vec<(&'static str, &'static str)>,
}

/// Puts auxiliary networks beside a model: those that give functions which are needed and which the
/// model lacks. Functions that no network gives are passed over, for a call of them says what there
/// is. Parameters are those of a new model, as for [`ModelInfo::build`](crate::ModelInfo::build).
///
/// # Errors
///
/// See [`AuxiliaryError`].
///
/// # Examples
///
/// A classifier with ADCOL's discriminator of five clients:
///
/// ```
/// use burn::tensor::Device;
/// use fedround_models::{AuxiliaryTask, Task, assemble, find};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (task, device) = (Task { input: [1, 28, 28], classes: 10 }, Device::default());
/// let base = find("2nn")?.build(task, &device)?;
/// let needed = ["forward", "represent", "discriminate"].map(str::to_owned);
/// let around = AuxiliaryTask { task, clients: 5, variants: Default::default() };
/// let model = assemble(base, &needed, &around, &device)?.model;
/// assert!(model.functions().contains(&"discriminate"));
/// let last = model.leaves().pop().map(|leaf| leaf.name);
/// assert_eq!(last.as_deref(), Some("discriminator.layers.2.bias"));
/// # Ok(())
/// # }
/// ```
pub fn assemble(
    base: Box<dyn Model>,
    needed: &[String],
    task: &AuxiliaryTask,
    device: &Device,
) -> Result<Assembled, AuxiliaryError> {
    let own = base.functions();
    let lacks = |name: &str| !own.contains(&name) && needed.iter().any(|needed| needed == name);
    let missing: Vec<_> = AUXILIARIES
        .iter()
        .filter_map(|network| Some((network, network.function_names().find(|name| lacks(name))?)))
        .collect();
    let chosen = choices(&task.variants)?;
    let mut functions: Vec<_> = own.iter().map(|name| (*name, *name)).collect();
    if lacks(REPRESENT) {
        functions.push((REPRESENT, representing(base.as_ref())?));
    } else if missing.is_empty() {
        let auxiliaries = vec![];
        return Ok(Assembled {
            model: base,
            auxiliaries,
        });
    }
    let around = Base {
        model: base.as_ref(),
        task,
        device,
    };
    let (mut parts, mut auxiliaries) = (vec![], vec![]);
    for (network, function) in missing {
        let variant = chosen.get(network.name).copied();
        let variant = variant.or(network.variants.first());
        let Some(variant) = variant else { continue };
        parts.push(around.part(network, variant, function)?);
        auxiliaries.push((network.name, variant.name));
    }
    let base = Part {
        name: "",
        functions,
        model: base,
    };
    parts.insert(0, base);
    let model = Box::new(Assembly::new(parts));
    Ok(Assembled { model, auxiliaries })
}

impl Base<'_> {
    /// A network beside this one, for a function that is needed of it.
    fn part(
        &self,
        network: &'static Auxiliary,
        variant: &Variant,
        function: &'static str,
    ) -> Result<Part, AuxiliaryError> {
        let part_of = |name: &str| name.split('.').next() == Some(network.name);
        if self.model.leaves().iter().any(|leaf| part_of(&leaf.name)) {
            return Err(AuxiliaryError::Taken {
                network: network.name,
                function,
            });
        }
        Ok(Part {
            name: network.name,
            functions: network.functions.to_vec(),
            model: (variant.make)(self)?,
        })
    }
}

/// The variants that were chosen, by their network's name.
fn choices(
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<&'static str, &'static Variant>, AuxiliaryError> {
    let choice = |(name, variant): (&String, &String)| {
        let network = const { &AUXILIARIES }.iter().find(|n| n.name == name);
        let network = network.ok_or_else(|| AuxiliaryError::Unknown {
            name: name.clone(),
            known: AUXILIARIES.map(|n| n.name).join(", "),
        })?;
        let found = network.variants.iter().find(|v| v.name == variant);
        let found = found.ok_or_else(|| AuxiliaryError::Variant {
            network: network.name,
            variant: variant.clone(),
            known: network.variant_names().collect::<Vec<_>>().join(", "),
        })?;
        Ok((network.name, found))
    };
    given.iter().map(choice).collect()
}
