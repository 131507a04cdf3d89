//! Hyper-parameters and the registry, over hand-expanded specs.

use crate::common::{FedAvg, FedProx};
use fedround::{
    BoxedAlgorithm, Hyper, HyperError, Registry, SpecError, all_fields, set, stage, validate,
};
use fedround_ir::fed::{HyperValue, print};

fn registry() -> Registry {
    Registry::new()
        .with_type::<FedAvg>()
        .with_type::<FedProx<BoxedAlgorithm>>()
}

#[test]
fn a_field_is_set_in_the_outermost_layer_that_has_it() {
    let mut alg = registry().parse("fedprox(fedavg)").unwrap();
    set(&mut *alg, "mu", HyperValue::Int(1)).unwrap();
    set(&mut *alg, "fedavg.epochs", HyperValue::Int(3)).unwrap();
    assert_eq!(
        alg.get("mu"),
        Some(HyperValue::Float(1.0)),
        "a whole number is widened"
    );
    let fields = all_fields(&*alg);
    let named: Vec<String> = fields
        .iter()
        .map(|field| format!("{}.{} = {}", field.layer, field.field.name, field.value))
        .collect();
    assert_eq!(
        named,
        [
            "fedprox.mu = 1",
            "fedavg.fraction = 0.1",
            "fedavg.epochs = 3",
            "fedavg.batch = 10",
            "fedavg.lr = 0.1"
        ]
    );
}

#[test]
fn an_unknown_field_has_a_nearest_name() {
    let mut alg = FedProx::<FedAvg>::default();
    let error = set(&mut alg, "epoch", HyperValue::Int(1)).unwrap_err();
    let HyperError::Unknown { nearest, known, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(nearest.as_deref(), Some("epochs"));
    assert_eq!(known.join(" "), "mu fraction epochs batch lr");
    assert!(
        error.to_string().contains("did you mean `epochs`?"),
        "{error}"
    );
}

#[test]
fn values_are_checked() {
    let mut alg = FedAvg::default();
    let text = set(&mut alg, "lr", HyperValue::Text("fast".into())).unwrap_err();
    assert_eq!(
        text.to_string(),
        "hyper-parameter `lr`: expected a number, found `fast`"
    );
    let range = set(&mut alg, "fraction", HyperValue::Float(1.5)).unwrap_err();
    assert_eq!(
        range.to_string(),
        "hyper-parameter `fraction`: expected [0, 1], found 1.5"
    );
    let zero = set(&mut alg, "batch", HyperValue::Int(0)).unwrap_err();
    assert_eq!(
        zero.to_string(),
        "hyper-parameter `batch`: expected ≥ 1, found 0"
    );
    assert!(set(&mut alg, "lr", HyperValue::Float(f64::NAN)).is_err());
    assert_eq!(alg.lr, 0.1, "a refused value changes nothing");
}

#[test]
fn fields_parse_text() {
    let fields = FedAvg::default().fields();
    assert_eq!(fields[0].parse(" 0.5 "), Ok(HyperValue::Float(0.5)));
    assert_eq!(fields[1].parse("7"), Ok(HyperValue::Int(7)));
    assert!(
        fields[1]
            .parse("-7")
            .unwrap_err()
            .to_string()
            .contains("expected a whole number")
    );
}

#[test]
fn values_set_directly_are_checked_when_staged() {
    let alg = FedProx {
        base: FedAvg {
            fraction: 2.0,
            lr: -1.0,
            ..FedAvg::default()
        },
        mu: 0.1,
    };
    assert_eq!(validate(&alg).unwrap_err().len(), 2);
    let error = stage(&alg).unwrap_err();
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
}

#[test]
fn a_composition_parses() {
    let registry = registry();
    assert_eq!(registry.names(), ["fedavg", "fedprox"]);
    let implicit = registry.parse("fedprox").unwrap();
    let explicit = registry.parse(" fedprox ( fedavg ) ").unwrap();
    assert_eq!(
        print(&stage(&*implicit).unwrap()),
        print(&stage(&*explicit).unwrap())
    );
    let twice = stage(&*registry.parse("fedprox(fedprox(fedavg))").unwrap()).unwrap();
    let names: Vec<&str> = twice
        .hypers
        .iter()
        .map(|hyper| hyper.name.as_str())
        .collect();
    assert_eq!(names[4..], ["fedprox.mu", "fedprox.mu_2"]);
    assert!(print(&twice).contains("fed.func @fedprox_2::regularizer"));
}

#[test]
fn a_default_base_may_be_a_composition() {
    let entry = <FedProx<BoxedAlgorithm> as fedround::Registered>::entry();
    let registry = registry().with(fedround::Entry {
        name: "outer",
        default_base: Some("fedprox(fedavg)"),
        ..entry
    });
    let names = |text: &str| {
        let module = stage(&*registry.parse(text).unwrap()).unwrap();
        let names = module.hypers.into_iter().map(|hyper| hyper.name);
        names.collect::<Vec<String>>()
    };
    assert_eq!(names("outer"), names("outer(fedprox(fedavg))"));
    assert_ne!(names("outer"), names("outer(fedavg)"));
}

#[test]
fn a_composition_that_does_not_parse_says_why() {
    let registry = registry();
    let error = |text: &str| registry.parse(text).err().unwrap();
    assert!(
        matches!(error("fedprx"), SpecError::Unknown { nearest: Some(name), .. } if name == "fedprox")
    );
    let base = error("fedavg(fedprox)").to_string();
    assert!(base.contains("did you mean `fedprox(fedavg)`?"), "{base}");
    assert!(matches!(error("fedprox("), SpecError::Syntax { at: 9, .. }));
    let orphan = Registry::new().with(fedround::Entry {
        default_base: None,
        ..<FedProx<BoxedAlgorithm> as fedround::Registered>::entry()
    });
    assert!(matches!(
        orphan.parse("fedprox").err().unwrap(),
        SpecError::MissingBase { .. }
    ));
}
