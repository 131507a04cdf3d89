use super::*;
use crate::fed::link;
use crate::testing::{Closure, FedAvg, FedProx, control_variates, dp_own_head};

#[test]
fn fed_prox_reads_like_its_box() {
    let staged = fedround::stage(&FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    })
    .unwrap();
    let module = link(staged).unwrap().module;
    assert_eq!(
        explain(&module),
        "\
fedprox, round t
  S ← sample(fraction)
  for k ∈ S in parallel
    w ← wᵗ
    for b in batches(epochs, batch)
      w ← w − lr · ∇[cross_entropy(model(w, b.x), b.y) + 0.5 · mu · ‖w − wᵗ‖²]
    w_k ← w
  wᵗ⁺¹ ← Σ n_k · w_k / Σ n_k
"
    );
    let letters = explain_with(&module, |hyper| {
        (hyper.field() == "lr").then(|| "η".to_owned())
    });
    assert!(letters.contains("w − η · ∇["), "{letters}");
}

#[test]
fn states_and_shared_values_have_lines_of_their_own() {
    let staged = fedround::stage(&Closure(control_variates)).unwrap();
    let module = link(staged).unwrap().module;
    assert_eq!(
        explain(&module),
        "\
test, round t
  S ← sample(fraction)
  c ← state(c)
  for k ∈ S in parallel
    c_k ← state(c_k)
    w ← wᵗ
    for b in batches(1, 10)
      w ← w − lr · (∇[cross_entropy(model(w, b.x), b.y)] − c_k + c)
    u ← c_k − c + 0.5 · (wᵗ − w)
    state(c_k) ← u
    w_k ← w
    w_k2 ← u − c_k
  state(c) ← c + 1/m Σ w_k2
  wᵗ⁺¹ ← 1/m Σ w_k
"
    );
}

#[test]
fn clip_noise_and_personal_parts_read_like_their_box() {
    let staged = fedround::stage(&Closure(dp_own_head)).unwrap();
    assert_eq!(
        explain(&link(staged).unwrap().module),
        "\
test, round t
  claims central differential privacy
  S ← sample(fraction)
  for k ∈ S in parallel
    v ← personal(head)
    w ← wᵗ[head ← v]
    for b in batches(1, 10)
      w ← w − 0.1 · ∇[cross_entropy(model(w, b.x), b.y)]
    personal(head) ← w
    w_k ← clip(w[head ← wᵗ] − wᵗ, clip)
  wᵗ⁺¹ ← wᵗ + 1/m Σ w_k + N(0, (z · clip)²)
"
    );
}

#[test]
fn chosen_cohorts_and_draws_read_like_their_box() {
    let text = include_str!("../../../../ir/tests/texts/chosen.fed");
    assert_eq!(
        explain(&fedround_ir::fed::parse(text).unwrap()),
        "\
test, round t
  for k ∈ all clients on the server
    loss ← state(loss)
    u ← uniform(tie)
    a ← loss / seconds_k + u
    state(loss) ← a
    a_k ← a
  S ← sample_by(a_k, count)
  S2 ← top(a_k, count)
  S3 ← S ∪ S2
  S4 ← bernoulli(p)
  S5 ← bernoulli(a_k)
  second ← state(second) or initial(1)
  u2 ← uniform(mix)
  u3 ← normal(mix)
  c ← u3 · [wᵗ if u2 > 0 else second]
  for k ∈ S3 in parallel
    u4 ← normal(size)
    π ← permutation(n, order)
    w_k ← u4 · c
    a_k2 ← u4
  S6 ← clients with a_k2 > 0
  state(second) ← Σ a_k2 · w_k
  wᵗ⁺¹ ← 1/m Σ wᵗ
"
    );
}
