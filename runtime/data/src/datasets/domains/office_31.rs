//! Office-31 (Saenko et al., 2010).

use super::{SHAPE, read};
use crate::DatasetInfo;

pub(crate) const OFFICE_31: DatasetInfo = DatasetInfo {
    name: "office-31",
    doc: "photographs of office objects from 3 sources, grouped by source (Saenko et al., 2010)",
    classes: OFFICE_31_CLASSES.len(),
    class_names: &OFFICE_31_CLASSES,
    shape: &SHAPE,
    files: &["office_31/amazon", "office_31/dslr", "office_31/webcam"],
    how: "Get it from https://faculty.cc.gatech.edu/~judy/domainadapt/ as DIR/office_31",
    read: |request| read(request, &[2817, 498, 795]),
    ..DatasetInfo::BASE
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
