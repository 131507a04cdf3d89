//! Office-Caltech10 (Gong et al., 2012).

use super::{SHAPE, read};
use crate::DatasetInfo;

pub(crate) const OFFICE_CALTECH_10: DatasetInfo = DatasetInfo {
    name: "office-caltech-10",
    doc: "photographs of office objects from 4 sources, grouped by source (Gong et al., 2012)",
    classes: 10,
    class_names: &[
        "backpack",
        "bike",
        "calculator",
        "headphones",
        "keyboard",
        "laptop",
        "monitor",
        "mouse",
        "mug",
        "projector",
    ],
    shape: &SHAPE,
    files: &[
        "office_caltech_10/amazon",
        "office_caltech_10/caltech10",
        "office_caltech_10/dslr",
        "office_caltech_10/webcam",
    ],
    how: "Get the folder images of https://github.com/redhat12345/OfficeCaltechDomainAdaptation \
          as DIR/office_caltech_10",
    read: |request| read(request, &[958, 1123, 157, 295]),
    ..DatasetInfo::BASE
};
