//! Gradients of scaled dot-product attention and its options.

use burn::tensor::module::attention;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Bool, Tensor, TensorData};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases, weigh};

/// A mask, set where a key is hidden: all keys of the first query, and every third key of the others.
fn hidden(shape: [usize; 4], x: &Tensor<4>) -> Tensor<4, Bool> {
    let [_, _, rows, columns] = shape;
    let n: usize = shape.iter().product();
    let hide = |i: usize| (i / columns).is_multiple_of(rows) || i % 3 == 1;
    let values: Vec<bool> = (0..n).map(hide).collect();
    Tensor::from_data(TensorData::new(values, shape), &x.device())
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn options(
        n in 1usize..3, heads in 1usize..3, rows in 1usize..4, columns in 1usize..4, depth in 1usize..4, seed in 0u32..1000,
    ) {
        let case = |name| {
            Case::new(name, seed)
                .input([n, heads, rows, depth], -1.0, 1.1)
                .input([n, heads, columns, depth], -1.0, 1.1)
                .input([n, heads, columns, 2], -1.0, 1.1)
                .input([n, heads, rows, columns], -1.0, 1.1)
        };
        let shape = [n, heads, rows, columns];
        let plain = AttentionModuleOptions::default;
        let causal = || AttentionModuleOptions { is_causal: true, ..plain() };
        let capped = || AttentionModuleOptions { softcap: Some(0.7), scale: Some(0.9), ..plain() };
        let run = |x: &[Tensor<4>], mask, bias, options| {
            weigh(attention(x[0].clone(), x[1].clone(), x[2].clone(), mask, bias, options)) + weigh(x[3].clone())
        };
        case("attention").check(&|x| run(x, None, None, plain()));
        case("biased attention").check(&|x| run(x, None, Some(x[3].clone()), plain()));
        case("capped attention").check(&|x| run(x, None, Some(x[3].clone()), capped()));
        case("causal attention").check(&|x| run(x, None, None, causal()));
        // burn-autodiff does not support a mask.
        case("masked attention").check_by_differences(&|x| run(x, Some(hidden(shape, &x[0])), Some(x[3].clone()), plain()));
        case("masked causal attention").check_by_differences(&|x| run(x, Some(hidden(shape, &x[0])), None, causal()));
    }
}
