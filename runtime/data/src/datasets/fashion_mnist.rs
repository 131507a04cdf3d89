//! Fashion-MNIST (Xiao et al., 2017), in the layout of MNIST.

use super::mnist::{SIDE, read};
use crate::DatasetInfo;

pub(super) const FASHION_MNIST: DatasetInfo = DatasetInfo {
    name: "fashion-mnist",
    doc: "articles of clothing (Xiao et al., 2017)",
    classes: 10,
    class_names: &[
        "t-shirt",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    ],
    shape: &[1, SIDE, SIDE],
    files: &[
        "fashion-mnist/train-images-idx3-ubyte",
        "fashion-mnist/train-labels-idx1-ubyte",
        "fashion-mnist/t10k-images-idx3-ubyte",
        "fashion-mnist/t10k-labels-idx1-ubyte",
    ],
    published: Some([60_000, 10_000]),
    how: "Get the four .gz files from https://github.com/zalandoresearch/fashion-mnist (data/fashion) \
          into DIR/fashion-mnist",
    read,
    ..DatasetInfo::BASE
};
