//! MS COCO 2014 (Lin et al., 2014): `captions_*.json` and `instances_*.json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::formats::record::json;
use crate::text::captions::{COLUMNS, CaptionSet, Captioned, Captions, FORM, Part};
use crate::text::{Form, NOMINAL_WORDS};
use crate::{DataError, DatasetInfo, RecordError};

pub(super) const COCO: DatasetInfo = DatasetInfo {
    name: "coco",
    doc: "photographs of objects of one category with five captions (Lin et al., 2014)",
    classes: 80,
    class_names: &[],
    shape: &FORM.image,
    files: &[
        "coco/annotations/captions_train2014.json",
        "coco/annotations/instances_train2014.json",
        "coco/annotations/captions_val2014.json",
        "coco/annotations/instances_val2014.json",
        "coco/train2014",
        "coco/val2014",
    ],
    how: "Unpack train2014.zip, val2014.zip and annotations_trainval2014.zip of \
          https://cocodataset.org/#download in DIR/coco",
    columns: COLUMNS,
    words: Some(NOMINAL_WORDS),
    read: |request| {
        request.existing::<6>()?;
        Ok(load(&request.path("coco")?, FORM)?.dataset)
    },
    ..DatasetInfo::BASE
};

/// The number of images of the published validation split that are for validation, and as many for testing.
const HELD_OUT: usize = 5000;

/// Loads the images that show objects of a single category, grouped by it: FedAA's non-IID captions. The
/// folder holds `annotations/`, `train2014/` and `val2014/`. The first 5,000 of the published validation
/// images are for validation and the next 5,000 for testing, or half of them each if there are fewer.
///
/// Departs: FedAA does not say which images it uses.
///
/// # Errors
/// The errors of [`read`], and a split without such images.
pub fn load(folder: &Path, form: Form) -> Result<CaptionSet, DataError> {
    let annotations = folder.join("annotations");
    let split = |split: &str| {
        let captions = annotations.join(format!("captions_{split}.json"));
        let instances = annotations.join(format!("instances_{split}.json"));
        let read = read(&folder.join(split), &captions, Some(&instances))?;
        Ok::<_, DataError>(read.by_object())
    };
    let ((train, of), (held_out, held_out_of)) = (split("train2014")?, split("val2014")?);
    let names = of.names.clone();
    let train = Part::new(train, of);
    let mut validation = Part::new(held_out, held_out_of);
    let half = (validation.images.len() / 2).min(HELD_OUT);
    let mut test = validation.split_off(half);
    test.split_off(half);
    for part in [&train, &validation, &test] {
        DataError::empty_if(part.images.is_empty(), &annotations)?;
    }
    CaptionSet::new("coco", [train, validation, test], names, form)
}

/// Reads the images and captions of one split, in ascending order of the image's id. `images` is the folder
/// of the image files. `instances`, if given, holds the categories of objects.
///
/// # Errors
/// A file is missing, JSON breaks off or has other fields, a caption is of an image that is not listed, or
/// an image has no caption or no file.
pub fn read(
    images: &Path,
    captions: &Path,
    instances: Option<&Path>,
) -> Result<Captions, DataError> {
    let file: CaptionFile = json(captions)?;
    let mut said = HashMap::<u64, Vec<String>>::new();
    for caption in file.annotations {
        let text = caption.caption.trim().to_owned();
        said.entry(caption.image_id).or_default().push(text);
    }
    let (categories, mut objects) = match instances {
        Some(path) => objects(path)?,
        None => Default::default(),
    };
    let names: BTreeMap<u64, String> = file
        .images
        .into_iter()
        .map(|i| (i.id, i.file_name))
        .collect();
    let missing = |what, name, place| RecordError::reference(captions, what, name, place);
    let mut all = Vec::with_capacity(names.len());
    for (id, name) in names {
        let Some(captions_of) = said.remove(&id) else {
            return Err(missing("the caption of image", id.to_string(), captions).into());
        };
        let image = images.join(&name);
        if !image.is_file() {
            return Err(missing("image", name, images).into());
        }
        let objects = objects.remove(&id).unwrap_or_default();
        all.push(Captioned {
            image,
            captions: captions_of,
            objects: objects.into_iter().collect(),
        });
    }
    if let Some(id) = said.into_keys().min() {
        return Err(missing("the image of captions", id.to_string(), captions).into());
    }
    DataError::empty_if(all.is_empty(), captions)?;
    Ok(Captions {
        images: all,
        categories,
    })
}

/// The names of the categories in ascending order of their ids, and the categories in each image.
type Objects = (Vec<String>, HashMap<u64, BTreeSet<u16>>);

fn objects(path: &Path) -> Result<Objects, DataError> {
    let file: InstanceFile = json(path)?;
    let names: BTreeMap<u64, String> = file
        .categories
        .into_iter()
        .map(|c| (c.id, c.name))
        .collect();
    let index: HashMap<u64, u16> = names.keys().copied().zip(0..).collect();
    let mut objects = HashMap::<u64, BTreeSet<u16>>::new();
    for instance in file.annotations {
        let category = index.get(&instance.category_id);
        let category = category.ok_or_else(|| {
            let id = instance.category_id.to_string();
            RecordError::reference(path, "category", id, path)
        })?;
        let on_image = objects.entry(instance.image_id).or_default();
        on_image.insert(*category);
    }
    Ok((names.into_values().collect(), objects))
}

#[derive(Deserialize)]
struct CaptionFile {
    images: Vec<Image>,
    annotations: Vec<Caption>,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct Caption {
    image_id: u64,
    caption: String,
}

#[derive(Deserialize)]
struct InstanceFile {
    annotations: Vec<Instance>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Instance {
    image_id: u64,
    category_id: u64,
}

#[derive(Deserialize)]
struct Category {
    id: u64,
    name: String,
}
