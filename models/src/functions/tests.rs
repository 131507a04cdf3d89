use super::*;

fn rows<const R: usize, const C: usize>(x: [[f32; C]; R]) -> Tensor<2> {
    Tensor::from_data(x, &Default::default())
}

fn close(found: Tensor<1>, expected: &[f32]) {
    let found: Vec<f32> = found.into_data().try_to_vec().unwrap();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-5, "{found:?} for {expected:?}");
    }
}

#[test]
fn divergence_from_uniform_is_that_of_the_paper() {
    for (p, expected) in [
        (vec![0.9, 0.1], 0.510_826),
        (vec![0.5, 0.25, 0.25], 0.056_633),
        (vec![0.8, 0.1, 0.1], 0.510_826),
        (vec![0.25; 4], 0.0),
    ] {
        let n = p.len();
        let logits: Vec<f32> = p.iter().map(|p: &f32| p.ln()).collect();
        let data = burn::tensor::TensorData::new(logits, [1, n]);
        let logits = Tensor::<2>::from_data(data, &Default::default());
        close(kl_from_uniform(logits), &[expected]);
    }
}

#[test]
fn only_what_is_classified_counts() {
    let p = rows([[0.45f32.ln(), 0.55f32.ln()], [0.55f32.ln(), 0.45f32.ln()]]);
    let labels = Tensor::<1, Int>::from_data([0, 0], &Default::default());
    close(correct(p, labels), &[0.0, 0.55]);
}

#[test]
fn an_identifier_that_knows_nothing_has_a_loss_of_two_ln_two() {
    let own = Tensor::from_data([1.0, 0.0, 0.0], &Default::default());
    let s = rows([[0.0], [0.0], [0.0]]);
    close(identification(s.clone(), own), &[1.386_294]);
    close(softplus(s.clone()), &[std::f32::consts::LN_2]);
    close(told_apart(s, rows([[0.0]])), &[1.386_294]);
    let p = rows([[0.0, 0.0]]);
    close(attributes(p, rows([[1.0, 0.0]])), &[std::f32::consts::LN_2]);
    close(attributes(rows([[9.0]]), rows([[0.0]])), &[9.000_123]);
    let none = Tensor::from_data([0.0, 0.0], &Default::default());
    let labels = Tensor::<1, Int>::from_data([0, 1], &Default::default());
    let logits = rows([[1.0, 0.0], [0.0, 1.0]]);
    close(cross_entropy_of(logits, labels, none), &[0.0]);
}

#[test]
fn divergence_of_codes() {
    close(kl_to_normal(rows([[0.0, 0.0, 0.0, 0.0]])), &[0.0]);
    // One of two means is 1: ½, over two entries.
    close(kl_to_normal(rows([[1.0, 0.0, 0.0, 0.0]])), &[0.25]);
}

#[test]
fn an_identifier_is_right_of_each_kind() {
    let own = || Tensor::from_data([1.0, 0.0, 0.0], &Default::default());
    let found = |own, s| identified(rows(s), own);
    close(found(own(), [[1.0], [-1.0], [-1.0]]), &[1.0]);
    close(found(own(), [[1.0], [1.0], [1.0]]), &[0.5]);
    close(found(own(), [[-1.0], [1.0], [-1.0]]), &[0.25]);
    let all = Tensor::from_data([1.0, 1.0], &Default::default());
    close(identified(rows([[1.0], [-1.0]]), all), &[0.5]);
}

#[test]
fn labels_are_found_among_others() {
    let of = |y: &[i32]| {
        let data = burn::tensor::TensorData::new(y.to_vec(), [y.len()]);
        Tensor::<1, Int>::from_data(data, &Default::default())
    };
    close(among(of(&[3, 1, 3, 0]), of(&[3, 0])), &[1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn unit_rows_keep_directions_and_zeros() {
    let found = unit_rows(rows([[3.0, 4.0], [0.0, 0.0]])).reshape([4]);
    let size = (25.0f32 / 2.0).sqrt();
    close(found, &[3.0 / size, 4.0 / size, 0.0, 0.0]);
}

#[test]
fn columns_have_a_number_each() {
    let (x, a) = (rows([[1.0, 2.0], [3.0, 4.0]]), || {
        Tensor::<1>::from_data([10.0, 0.5], &Default::default())
    });
    let shifted = shift_columns(x.clone(), a()).reshape([4]);
    close(shifted, &[11.0, 2.5, 13.0, 4.5]);
    close(scale_columns(x, a()).reshape([4]), &[10.0, 1.0, 30.0, 2.0]);
}

#[test]
fn independent_scores_carry_no_information() {
    close(mutual_information(rows([[2.0]]), rows([[2.0]])), &[0.0]);
    let apart = rows([[0.0], [0.0]]);
    close(mutual_information(rows([[1.0], [1.0]]), apart), &[1.0]);
}

#[test]
fn names_that_are_not_there_are_explained() {
    let losses = Losses::default();
    let loss = |name: &str| losses.call(name, &[]).err().unwrap().to_string();
    let function = |name: &str| {
        let called = losses.call_function(name, &[]);
        called.err().unwrap().to_string()
    };
    assert_eq!(
        loss("softmax"),
        "`softmax` is a registered function: call it by `function(\"softmax\", ..)`, which gives a tensor"
    );
    assert_eq!(
        function("entropy"),
        "`entropy` is a registered loss: call it by `loss(\"entropy\", ..)`, which gives a number"
    );
    let found = loss("cross_entrpy");
    let (near, own) = (
        "unknown registered loss `cross_entrpy` (did you mean `cross_entropy`?); there are arrangement, ",
        "; register your own by `Cli::loss`, or from Rust by `Losses::with`",
    );
    assert!(found.starts_with(near) && found.ends_with(own), "{found}");
}
