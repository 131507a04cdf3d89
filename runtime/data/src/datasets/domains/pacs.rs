//! PACS (Li et al., 2017).

use super::{SHAPE, read};
use crate::DatasetInfo;

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
    read: |request| read(request, &[2048, 2344, 1670, 3929]),
    ..DatasetInfo::BASE
};
