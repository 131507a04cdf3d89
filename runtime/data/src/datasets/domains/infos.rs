//! The datasets, and how many images their domains have.

use std::path::Path;

use super::{SHAPE, read};
use crate::DatasetInfo;
use crate::load::Request;

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
    read,
};

pub(crate) const OFFICE_31: DatasetInfo = DatasetInfo {
    name: "office-31",
    doc: "photographs of office objects from 3 sources, grouped by source (Saenko et al., 2010)",
    classes: OFFICE_31_CLASSES.len(),
    class_names: &OFFICE_31_CLASSES,
    shape: &SHAPE,
    files: &["office_31/amazon", "office_31/dslr", "office_31/webcam"],
    how: "Get it from https://faculty.cc.gatech.edu/~judy/domainadapt/ as DIR/office_31",
    read,
};

// One name a line, as rustfmt would have it, is a page.
#[rustfmt::skip]
const OFFICE_31_CLASSES: [&str; 31] = [
    "back_pack", "bike", "bike_helmet", "bookcase", "bottle", "calculator", "desk_chair",
    "desk_lamp", "desktop_computer", "file_cabinet", "headphones", "keyboard", "laptop_computer",
    "letter_tray", "mobile_phone", "monitor", "mouse", "mug", "paper_notebook", "pen", "phone",
    "printer", "projector", "punchers", "ring_binder", "ruler", "scissors", "speaker", "stapler",
    "tape_dispenser", "trash_can",
];

pub(crate) const PACS: DatasetInfo = DatasetInfo {
    name: "pacs",
    doc: "objects in photographs, art, cartoons and sketches, grouped by kind (Li et al., 2017)",
    classes: 7,
    class_names: &[
        "dog", "elephant", "giraffe", "guitar", "horse", "house", "person",
    ],
    shape: &SHAPE,
    files: &[
        "pacs/art_painting",
        "pacs/cartoon",
        "pacs/photo",
        "pacs/sketch",
    ],
    how: "Get it from https://dali-dl.github.io/project_iccv2017.html as DIR/pacs",
    read,
};

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
    read,
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
    ..DOMAINNET
};

/// Images of each domain. Of DomainNet there are two versions.
const PUBLISHED: &[(&str, &[usize])] = &[
    ("office-caltech-10", &[958, 1123, 157, 295]),
    ("office-31", &[2817, 498, 795]),
    ("pacs", &[2048, 2344, 1670, 3929]),
    ("domainnet-10", &[2629, 3283, 3091, 5000, 6081, 2767]),
];

/// Notes a domain that is not of the published size.
pub(super) fn compare(request: &Request<'_>, domain: usize, path: &Path, found: usize) {
    let known = PUBLISHED
        .iter()
        .find(|(name, _)| *name == request.info.name);
    let expected = known.and_then(|(_, sizes)| sizes.get(domain));
    if let Some(expected) = expected.filter(|&&n| n != found) {
        let path = path.display();
        request.notes.add(format!(
            "{path} has {found} images, the published dataset {expected}"
        ));
    }
}
