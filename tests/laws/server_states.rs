//! States of the server that a run takes from another run.

use fedround::simulation::{ServerStateError, Simulation};

use crate::common::{bits, digits, federation, run, simulation, weights};
use crate::state::{Momentum, base};

#[test]
fn states_of_the_server_are_taken_from_another_simulation() {
    let data = digits(100, 10).train;
    let momentum = Momentum {
        base: base(),
        beta: 0.5,
    };
    let of = |model: &str| simulation(&momentum, model, federation(&data, "iid", 4, 9));
    let mut earlier = of("logistic");
    run(&mut earlier, 2);
    let saved = earlier.save().unwrap();
    let velocity = |simulation: &Simulation| simulation.server_state("momentum.v").unwrap();
    let mut next = of("logistic");
    let before = bits(&weights(&next));
    assert_eq!(next.load_server_states(&saved).unwrap(), ["momentum.v"]);
    assert_eq!(velocity(&next), velocity(&earlier));
    assert!(velocity(&next).is_some());
    // Nothing else is taken.
    assert_eq!((next.round(), bits(&weights(&next))), (0, before));

    let mut other = of("2nn");
    let error = other.load_server_states(&saved).unwrap_err();
    assert!(
        matches!(&error, ServerStateError::Shapes { name, .. } if name == "momentum.v"),
        "{error}"
    );
    assert!(error.to_string().contains("[784, 10]"), "{error}");
    assert_eq!(velocity(&other), None);
    // Before the first round there is no velocity yet.
    let error = next.load_server_states(&of("logistic").save().unwrap());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("missing: momentum.v; left over: none"),
        "{error}"
    );
    let mut stateless = simulation(&base(), "logistic", federation(&data, "iid", 4, 9));
    let error = stateless.load_server_states(&saved).unwrap_err();
    assert!(matches!(error, ServerStateError::Stateless), "{error}");
}

#[test]
fn an_experiment_starts_from_states_of_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("round.ckpt");
    let experiment = || {
        let momentum = Momentum {
            base: base(),
            beta: 0.5,
        };
        fedround::Experiment::new(momentum)
            .model("logistic")
            .data(digits(100, 20))
            .clients(4)
            .threads(2)
    };
    let mut first = experiment().prepare(2).unwrap();
    first.train(&mut ()).unwrap();
    let error = experiment().server_state(&path).prepare(2).err().unwrap();
    assert!(error.to_string().contains("round.ckpt"), "{error}");
    first.save().unwrap().write(&path).unwrap();
    let next = experiment().server_state(&path).prepare(2).unwrap();
    assert_eq!(next.loaded_server_states(), ["momentum.v"]);
    let velocity =
        |run: &fedround::experiment::Run| run.simulation().server_state("momentum.v").unwrap();
    assert_eq!(velocity(&next), velocity(&first));
}
