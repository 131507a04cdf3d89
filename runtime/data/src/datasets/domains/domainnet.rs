//! DomainNet (Peng et al., 2019), of which there are two versions, and ten of its classes.

use super::{SHAPE, read};
use crate::DatasetInfo;

pub(crate) const DOMAINNET: DatasetInfo = DatasetInfo {
    name: "domainnet",
    doc: "345 kinds of objects in 6 kinds of pictures, grouped by kind (Peng et al., 2019)",
    classes: 345,
    class_names: &[],
    shape: &SHAPE,
    files: &[
        "domainnet/clipart",
        "domainnet/infograph",
        "domainnet/painting",
        "domainnet/quickdraw",
        "domainnet/real",
        "domainnet/sketch",
    ],
    how: "Unpack the six files of http://ai.bu.edu/M3SDA/ in DIR/domainnet",
    read: |request| read(request, &[]),
    ..DatasetInfo::BASE
};

/// The classes of FedBN (Li et al., 2021) and ADCOL.
pub(crate) const DOMAINNET_10: DatasetInfo = DatasetInfo {
    name: "domainnet-10",
    doc: "10 classes of domainnet (FedBN: Li et al., 2021)",
    classes: 10,
    class_names: &[
        "bird",
        "feather",
        "headphones",
        "ice_cream",
        "teapot",
        "tiger",
        "whale",
        "windmill",
        "wine_glass",
        "zebra",
    ],
    read: |request| read(request, &[2629, 3283, 3091, 5000, 6081, 2767]),
    ..DOMAINNET
};
