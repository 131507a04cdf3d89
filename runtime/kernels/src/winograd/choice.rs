//! Decides for which shapes Winograd's method is faster than im2col, by a model of their costs.

use super::transform::{PATCH, tile};
use crate::shape::Sizes;

/// The cost of a multiplication of transformed values. The unit of all costs is a multiplication of an exact convolution.
/// It is more than 1, because the sums of such products are shorter, and their operands come from the second-level
/// cache.
const PRODUCT_COST: f64 = 1.3;

/// The cost of transforming one channel of a tile, with the transposition of its pixels: 16 pixels for a 3x3 filter, and 4
/// for a 5x5 filter.
const fn channel_cost(kernel: usize) -> f64 {
    if kernel == 3 { 1200.0 } else { 600.0 }
}

/// The cost of transforming one filter of one channel, whose values stay in the second-level cache.
const FILTER_COST: f64 = 250.0;

/// The factor by which Winograd's method must be cheaper. It is above 1, because the costs were fitted on few machines.
const MIN_GAIN: f64 = 1.15;

/// Whether the output and both gradients are faster by Winograd's method. This depends on the sizes only, so that results
/// do not depend on the machine or its load.
///
/// The costs are compared for one filter, one channel and one tile. With few channels, most time goes into transforming
/// pixels; with few tiles, into transforming filters. If the tiles extend past the image, some values are computed in vain.
/// In a graph of several clients, each client is a group, so the choice is the same as for one client.
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
    let products = (PATCH * PATCH) as f64 * PRODUCT_COST;
    let transforms = channel_cost(kernel) * (1.0 / channels + 1.0 / filters) + FILTER_COST / tiles;
    exact >= MIN_GAIN * (products + transforms)
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
            // One image of 512 channels is one tile, which does not pay for transforming the filters.
            let one_image = faster(1, channels, channels, size, 3, 1);
            assert_eq!(one_image, channels < 512, "{channels}");
        }
        // The second layers of McMahan's network and of FedAA's.
        assert!(faster(10, 32, 64, 12, 5, 0));
        assert!(faster(10, 64, 256, 14, 5, 0));
        // First layers, and layers of small networks.
        assert!(!faster(50, 3, 64, 32, 3, 1));
        assert!(!faster(100, 16, 32, 32, 3, 1));
        assert!(!faster(50, 3, 64, 32, 5, 0));
        assert!(!faster(50, 6, 16, 14, 5, 0));
        assert!(!faster(50, 64, 64, 32, 7, 3));
    }
}
