//! Every op is at the user's own line: calls of hooks, hyper-parameters, loops and operators.
#![deny(warnings)]

use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Sgd {
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for Sgd {
    fn client_update(&self, k: &ClientCx, mut w: Params) -> Params {
        for b in k.batches(1, 10) {
            let g = self.gradient(k, &w, &b);
            let step =
                self.lr * g;
            w -= step;
        }
        w
    }
}

#[test]
fn compiles() {
    let module = fedround::stage(&Sgd::default()).unwrap();
    let text = format!("{module:#?}");
    // The standard definition of the hook that is left out is elsewhere.
    let here = text
        .split("file: ")
        .filter(|at| at.lines().next().unwrap().contains("locations.rs"));
    let lines: std::collections::BTreeSet<&str> = here
        .flat_map(str::lines)
        .filter_map(|line| line.trim().strip_prefix("line: "))
        .collect();
    // The hook, its loop, the hook it calls, the hyper-parameter and the last step.
    let expected = ["14,", "15,", "16,", "18,", "19,"];
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), expected);
}
