//! Every codec decodes to what its documentation says, and its buffers are as long as it says.

use fedround_random::StreamKey;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const CODECS: [Codec; 9] = [
    Codec::TopK { share: 1.0 },
    Codec::TopK { share: 0.3 },
    Codec::TopK { share: 0.01 },
    Codec::RandomK {
        share: 0.2,
        scaled: true,
    },
    Codec::RandomK {
        share: 0.2,
        scaled: false,
    },
    Codec::Quantize { bits: 2 },
    Codec::Quantize { bits: 7 },
    Codec::Sign,
    Codec::LowRank { rank: 1 },
];

type Tensors = Vec<(Vec<usize>, Vec<f32>)>;

fn key(i: usize) -> StreamKey {
    StreamKey::root(7).with(i)
}

fn encoded(codec: Codec, tensors: &Tensors, key: StreamKey) -> Vec<u8> {
    let leaves = tensors.iter();
    let leaves: Vec<Leaf<'_>> = leaves
        .map(|(shape, values)| Leaf { shape, values })
        .collect();
    codec.encode(&leaves, key)
}

fn shapes(tensors: &Tensors) -> Vec<Vec<usize>> {
    tensors.iter().map(|(shape, _)| shape.clone()).collect()
}

/// What the receiver has, all tensors one after the other.
fn received(codec: Codec, tensors: &Tensors, key: StreamKey) -> Vec<f32> {
    let bytes = encoded(codec, tensors, key);
    codec.decode(&bytes, &shapes(tensors)).unwrap().concat()
}

fn flat(tensors: &Tensors) -> Vec<f32> {
    tensors
        .iter()
        .flat_map(|(_, values)| values.clone())
        .collect()
}

fn one(values: Vec<f32>) -> Tensors {
    vec![(vec![values.len()], values)]
}

/// A few tensors, of one axis or of two, and maybe empty.
fn tensors() -> impl Strategy<Value = Tensors> {
    let shape = prop_oneof![vec(0usize..20, 1), vec(1usize..9, 2)];
    let tensor = shape.prop_flat_map(|shape| {
        let n = shape.iter().product::<usize>();
        vec(-10.0f32..10.0, n).prop_map(move |values| (shape.clone(), values))
    });
    vec(tensor, 0..4)
}

proptest! {
    #[test]
    fn a_buffer_is_as_long_as_its_codec_says(tensors in tensors()) {
        for codec in CODECS {
            let bytes = encoded(codec, &tensors, key(0));
            prop_assert_eq!(bytes.len(), codec.bytes(&shapes(&tensors)), "{:?}", codec);
            let back = codec.decode(&bytes, &shapes(&tensors)).unwrap();
            let sizes: Vec<usize> = back.iter().map(Vec::len).collect();
            let expected: Vec<usize> = tensors.iter().map(|(_, values)| values.len()).collect();
            prop_assert_eq!(sizes, expected);
        }
    }

    #[test]
    fn bytes_that_are_no_encoding_are_an_error_or_some_values(
        tensors in tensors(), bytes in vec(any::<u8>(), 0..300), length in any::<bool>()
    ) {
        for codec in CODECS {
            let mut bytes = bytes.clone();
            if length {
                bytes.resize(codec.bytes(&shapes(&tensors)), 0xa5);
            }
            let _ = codec.decode(&bytes, &shapes(&tensors));
        }
    }

    #[test]
    fn top_k_keeps_the_largest(tensors in tensors(), share in 0.01f64..1.0) {
        let all = flat(&tensors);
        let back = received(Codec::TopK { share }, &tensors, key(0));
        let k = ((share * all.len() as f64 - 1e-9).ceil() as usize).min(all.len());
        let mut magnitudes: Vec<f32> = all.iter().map(|x| x.abs()).collect();
        magnitudes.sort_by(|a, b| b.total_cmp(a));
        let least = magnitudes.get(k.wrapping_sub(1)).copied().unwrap_or_default();
        for (x, y) in all.iter().zip(&back) {
            prop_assert!(y == x || (*y == 0.0 && x.abs() <= least), "{} of {}", y, x);
            prop_assert!(x.abs() <= least || y == x);
        }
        prop_assert!(back.iter().filter(|x| **x != 0.0).count() <= k);
    }

    #[test]
    fn signs_are_scaled_by_the_mean_magnitude(tensors in tensors()) {
        let codec = Codec::Sign;
        let bytes = encoded(codec, &tensors, key(0));
        let back = codec.decode(&bytes, &shapes(&tensors)).unwrap();
        for ((_, values), back) in tensors.iter().zip(back) {
            let sum: f64 = values.iter().map(|x| f64::from(x.abs())).sum();
            let mean = (sum / values.len() as f64) as f32;
            for (x, y) in values.iter().zip(back) {
                prop_assert_eq!(y, if *x < 0.0 { -mean } else { mean });
            }
        }
    }

    #[test]
    fn quantised_entries_are_one_of_the_two_nearest_levels(values in vec(-3.0f32..3.0, 1..40), bits in 2usize..=16) {
        let largest = values.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let step = f64::from(largest) / f64::from((1u32 << (bits - 1)) - 1);
        let back = received(Codec::Quantize { bits }, &one(values.clone()), key(3));
        for (x, y) in values.iter().zip(back) {
            let error = f64::from(y) - f64::from(*x);
            prop_assert!(error.abs() < step * (1.0 + 1e-4) + 1e-12, "{} became {}", x, y);
        }
    }

    #[test]
    fn a_matrix_of_low_rank_comes_back(a in vec(-2.0f32..2.0, 12), b in vec(-2.0f32..2.0, 10)) {
        let product: Vec<f32> = a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect();
        let tensors = vec![(vec![12, 10], product.clone())];
        let back = received(Codec::LowRank { rank: 1 }, &tensors, key(1));
        for (x, y) in product.iter().zip(back) {
            prop_assert!((x - y).abs() <= 1e-4, "{} became {}", x, y);
        }
    }
}

/// The mean over many draws is what was encoded, within four standard errors of each entry.
#[test]
fn random_codecs_are_unbiased() {
    let values = [0.9f32, -0.31, 0.02, 0.0, -2.0, 1.3, 0.5, -0.77, 0.05, 0.11];
    let draws = 4000;
    let codecs = [
        Codec::RandomK {
            share: 0.3,
            scaled: true,
        },
        Codec::Quantize { bits: 2 },
        Codec::Quantize { bits: 4 },
    ];
    for codec in codecs {
        let mut sums = [[0.0f64; 2]; 10];
        for draw in 0..draws {
            let back = received(codec, &one(values.to_vec()), key(draw));
            for (sum, x) in sums.iter_mut().zip(back) {
                sum[0] += f64::from(x);
                sum[1] += f64::from(x).powi(2);
            }
        }
        for (x, [sum, squares]) in values.iter().zip(sums) {
            let mean = sum / draws as f64;
            let variance = squares / draws as f64 - mean * mean;
            let error = (variance.max(0.0) / draws as f64).sqrt();
            let off = (mean - f64::from(*x)).abs();
            assert!(off <= 4.0 * error + 1e-6, "{codec:?}: {mean} for {x}");
        }
    }
}

#[test]
fn random_entries_are_kept_as_they_are_or_times_n_over_k() {
    let values: Vec<f32> = (1..=10).map(|i| i as f32).collect();
    for (scaled, factor) in [(false, 1.0), (true, 5.0)] {
        let codec = Codec::RandomK { share: 0.2, scaled };
        let back = received(codec, &one(values.clone()), key(0));
        let kept: Vec<(usize, f32)> = back
            .into_iter()
            .enumerate()
            .filter(|(_, x)| *x != 0.0)
            .collect();
        assert_eq!(kept.len(), 2);
        assert!(kept.iter().all(|(i, x)| *x == factor * values[*i]));
    }
    let codec = Codec::RandomK {
        share: 0.2,
        scaled: false,
    };
    let same = received(codec, &one(values.clone()), key(0));
    assert_eq!(same, received(codec, &one(values.clone()), key(0)));
    assert!((1..9).any(|i| received(codec, &one(values.clone()), key(i)) != same));
}

#[test]
fn lengths_are_those_of_the_documentation() {
    let shape = [[784, 10].as_slice(), &[10]];
    let bytes = |codec: Codec| codec.bytes(&shape);
    assert_eq!(bytes(Codec::TopK { share: 1.0 }), 4 * 7850);
    assert_eq!(bytes(Codec::TopK { share: 0.01 }), 8 * 79);
    assert_eq!(bytes(Codec::TopK { share: 0.5 }), 4 * 3925 + 982);
    assert_eq!(
        bytes(Codec::RandomK {
            share: 0.01,
            scaled: true
        }),
        8 + 4 * 79
    );
    assert_eq!(bytes(Codec::Quantize { bits: 4 }), 4 + 3920 + 4 + 5);
    assert_eq!(bytes(Codec::Sign), 4 + 980 + 4 + 2);
    assert_eq!(bytes(Codec::LowRank { rank: 2 }), 4 * 2 * 794 + 40);
}

#[test]
fn what_is_not_finite_stays_so() {
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let values = vec![0.5, odd, -0.25, 0.0];
        for codec in CODECS {
            let drawn = matches!(codec, Codec::RandomK { .. });
            let back = received(codec, &one(values.clone()), key(0));
            assert!(
                drawn || back.iter().any(|x| !x.is_finite()),
                "{codec:?} of {odd}"
            );
        }
    }
}

#[test]
fn zeros_stay_zeros() {
    for codec in CODECS {
        let zeros = vec![(vec![5, 4], vec![0.0; 20]), (vec![3], vec![0.0; 3])];
        let back = received(codec, &zeros, key(0));
        assert!(back.iter().all(|x| x.to_bits() == 0), "{codec:?}: {back:?}");
    }
}

#[test]
fn other_lengths_and_positions_are_refused() {
    let codec = Codec::TopK { share: 0.05 };
    let tensors = one((0..40).map(|i| i as f32).collect());
    let good = encoded(codec, &tensors, key(0));
    let shapes = shapes(&tensors);
    assert_eq!(
        codec.decode(&good[1..], &shapes),
        Err(DecodeError::Length {
            expected: 13,
            found: 12
        })
    );
    // Both positions the same: the bitmap has one bit too few.
    let mut bad = good.clone();
    bad[..5].copy_from_slice(&[1, 0, 0, 0, 0]);
    let error = codec.decode(&bad, &shapes).unwrap_err().to_string();
    assert!(error.contains("2 ascending positions below 40"), "{error}");
}
