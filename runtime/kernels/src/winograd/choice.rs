//! Decides for which shapes Winograd's convolutions are faster than im2col.

use super::transform::{PATCH, tile};
use crate::shape::Sizes;

/// The cost of a multiplication of transformed values, relative to one of an exact convolution. Sums are
/// shorter, and their operands come from the second-level cache.
const PRODUCT: f64 = 1.3;

/// The cost of transforming the values of one channel of a tile, in multiplications of an exact convolution,
/// with the transposition of its pixels: 16 of a 3x3 filter's tile, and 4 of a 5x5 filter's.
const fn channel(kernel: usize) -> f64 {
    if kernel == 3 { 1200.0 } else { 600.0 }
}

/// The same for one filter of one channel, whose values stay in the second-level cache.
const FILTER: f64 = 250.0;

/// By how much the costs must differ, because they are fitted to few machines.
const GAIN: f64 = 1.15;

/// Whether the output and its gradients are faster than exactly. This depends on the sizes alone, so that results do
/// not depend on the machine's load.
///
/// Costs are those of one filter for one channel and tile. A convolution of few channels spends its time on
/// transforming pixels, one of few tiles on transforming filters, and where tiles exceed the image, values are
/// computed in vain. All clients of a batch have a group each, so that the choice is that for one client.
pub(crate) fn is_faster(sizes: &Sizes) -> bool {
    let kernel = match sizes.kernel {
        [3, 3] => 3,
        [5, 5] => 5,
        _ => return false,
    };
    if sizes.stride != [1, 1] || sizes.dilation != [1, 1] {
        return false;
    }
    let [channels, filters] = [sizes.channels, sizes.filters].map(|count| count as f64);
    let tiles = sizes.output.map(|len| len.div_ceil(tile(kernel)));
    let tiles = (sizes.batch * tiles[0] * tiles[1]) as f64;
    let exact = (kernel * kernel * sizes.batch * sizes.pixels()) as f64 / tiles;
    let products = (PATCH * PATCH) as f64 * PRODUCT;
    let transforms = channel(kernel) * (1.0 / channels + 1.0 / filters) + FILTER / tiles;
    exact >= GAIN * (products + transforms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Conv2d;

    #[test]
    fn many_channels_and_tiles_are_worth_it() {
        let faster = |batch, channels, filters, size, kernel: usize, padding: usize| {
            let options = Conv2d {
                padding: [padding; 2],
                ..Conv2d::default()
            };
            let w = [filters, channels, kernel, kernel];
            is_faster(&options.sizes([batch, channels, size, size], w))
        };
        // ResNet-18's layers.
        for (channels, size) in [(64, 32), (128, 16), (256, 8), (512, 4)] {
            assert!(faster(50, channels, channels, size, 3, 1), "{channels}");
            // One image of 512 channels is one tile.
            let of_one = faster(1, channels, channels, size, 3, 1);
            assert_eq!(of_one, channels < 512, "{channels}");
        }
        // The second of McMahan's network and of FedAA's.
        assert!(faster(10, 32, 64, 12, 5, 0));
        assert!(faster(10, 64, 256, 14, 5, 0));
        // The first ones, and those of small networks.
        assert!(!faster(50, 3, 64, 32, 3, 1));
        assert!(!faster(100, 16, 32, 32, 3, 1));
        assert!(!faster(50, 3, 64, 32, 5, 0));
        assert!(!faster(50, 6, 16, 14, 5, 0));
        assert!(!faster(50, 64, 64, 32, 7, 3));
    }
}
